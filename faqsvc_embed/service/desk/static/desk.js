// The desk works without this script. It writes times in the editor's time zone, copies lines, and, where an FAQ is
// written, updates the preview, counts characters, moves questions, and asks before unsaved text is lost.
"use strict";

const root = document.querySelector(".brand a").pathname;

// "2 hours ago" for a day, then the date; the full time is in the title.
const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
for (const time of document.querySelectorAll("time[datetime]")) {
  const date = new Date(time.dateTime);
  const minutes = Math.round((date - Date.now()) / 60_000);
  time.title = format.format(date);
  if (Math.abs(minutes) < 60) time.textContent = relative.format(minutes, "minute");
  else if (Math.abs(minutes) < 24 * 60) time.textContent = relative.format(Math.trunc(minutes / 60), "hour");
  else time.textContent = day.format(date);
}

// The token of a sign-in link is in the fragment, so that no log has it. Without this script, the link is pasted.
function takeLink() {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (!link) return;
  const field = document.getElementById("link");
  // Who is signed in already was led on to this page.
  if (!field) return location.replace(`${root}/sign-in?again${location.hash}`);
  field.value = link;
  field.closest(".field").hidden = true;
  document.getElementById("with-link").hidden = false;
  field.form.querySelector("button").focus();
}

takeLink();
addEventListener("hashchange", takeLink);

// The clipboard is available only in secure contexts.
for (const pre of navigator.clipboard ? document.querySelectorAll("pre, a.copied") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.innerHTML = 'Copy<span class="away"></span>';
  button.lastChild.textContent = ` ${pre.getAttribute("aria-label") ?? pre.textContent}`;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.href ?? pre.textContent);
    button.firstChild.data = "Copied";
  });
  pre.before(button);
}

const form = document.getElementById("write");
if (form) write();

function write() {
  const sheet = document.getElementById("preview-sheet");
  const said = document.getElementById("said");
  const items = document.getElementById("items");
  const number = new Intl.NumberFormat("en");
  const count = document.createElement("p");
  count.className = "count";
  let timer = 0;
  let latest = 0;
  let isUnsaved = form.dataset.unsaved !== "";
  let focused = 0;
  const saved = document.getElementById("saved");
  const answerFormat = form.elements.answer_format;

  const isShown = (item) => ["question", "answer"].every((name) => item.querySelector(`[name=${name}]`).value.trim());

  // The item that is being written is open, and in view.
  function follow() {
    const [current, ...before] = [...items.children].slice(0, focused + 1).reverse();
    if (!current || !isShown(current)) return;
    const item = sheet.querySelectorAll(".faqsvc-item")[before.filter(isShown).length];
    if (!item) return;
    item.open = true;
    const box = item.getBoundingClientRect();
    const view = document.getElementById("preview");
    const { top, bottom } = view.getBoundingClientRect();
    if (box.top < top || box.bottom > Math.min(bottom, innerHeight)) view.scrollTop += box.top - top - 80;
  }

  function addTools(item) {
    const answer = item.querySelector("[name=answer]");
    const bar = document.createElement("p");
    bar.className = "actions format";
    const wrap = (before, after, otherwise) => () => {
      const { selectionStart: start, selectionEnd: end, value } = answer;
      const text = value.slice(start, end) || otherwise;
      answer.setRangeText(before + text + after, start, end, "end");
      answer.setSelectionRange(start + before.length, start + before.length + text.length);
    };
    const list = () => {
      const start = answer.value.lastIndexOf("\n", answer.selectionStart - 1) + 1;
      const lines = answer.value.slice(start, answer.selectionEnd) || "first";
      const isFirst = start === 0 || answer.value[start - 2] === "\n";
      const text = lines.replace(/^(?!- )/gm, "- ");
      answer.setRangeText(isFirst ? text : `\n${text}`, start, answer.selectionEnd, "end");
    };
    const tools = [["B", "Bold", wrap("**", "**", "bold")], ["Link", "Link", wrap("[", "](https://)", "text")]];
    for (const [text, name, act] of [...tools, ["List", "List", list]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "small";
      button.textContent = text;
      button.setAttribute("aria-label", `${name} in ${item.querySelector("legend").textContent}`);
      button.addEventListener("click", () => {
        act();
        answer.focus();
        answer.dispatchEvent(new Event("input", { bubbles: true }));
      });
      bar.append(button);
    }
    answer.parentElement.append(bar);  // after the answer, so that Tab goes from the question to the answer
  }

  function showTools() {
    form.classList.toggle("markdown", answerFormat.value === "markdown");
  }

  async function refresh() {
    const mine = ++latest;
    const body = new URLSearchParams([...new FormData(form)]);
    body.set("action", "preview");
    body.set("part", "preview");
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body });
      const html = await response.text();
      if (!response.ok || mine !== latest) return;
      const open = [...sheet.querySelectorAll("details")].map((item) => item.open);
      sheet.innerHTML = html || '<p class="soft">Write a question and its answer to see them here.</p>';
      [...sheet.querySelectorAll("details")].forEach((item, index) => {
        item.open = Boolean(open[index]);
      });
      follow();
    } catch {
      // The network failed; the next change tries again.
    }
  }

  function changed() {
    isUnsaved = true;
    saved.textContent = "Unsaved";
    clearTimeout(timer);
    timer = setTimeout(() => {
      refresh();
      if (count.parentNode && Number(count.dataset.left) < 100) said.textContent = count.textContent;
    }, 400);
  }

  // Characters as the service counts them: code points.
  function showCount(field) {
    const used = [...field.value].length;
    count.dataset.left = field.dataset.max - used;
    count.classList.toggle("over", used > field.dataset.max);
    count.textContent = `${number.format(used)} of ${number.format(field.dataset.max)} characters`;
  }

  function move(item, before) {
    items.insertBefore(item, before);
    [...items.children].forEach((each, index, { length }) => {
      each.querySelector("legend").textContent = `Question ${index + 1}`;
      for (const button of each.querySelectorAll("[name=action]")) {
        const [name] = button.value.split(":");
        button.value = `${name}:${name === "add" ? index + 1 : index}`;
        button.querySelector(".away").textContent = ` question ${index + 1}`;
        button.disabled = (name === "up" && index === 0) || (name === "down" && index === length - 1);
      }
    });
    said.textContent = `Now ${item.querySelector("legend").textContent} of ${items.children.length}`;
    changed();
  }

  items.addEventListener("click", (event) => {
    const button = event.target.closest("[value^=up], [value^=down]");
    if (!button) return;
    event.preventDefault();
    const item = button.closest(".item");
    const isUp = button.value.startsWith("up");
    move(item, isUp ? item.previousElementSibling : item.nextElementSibling.nextElementSibling);
    // At an end of the list, the button is disabled and loses the focus.
    (button.disabled ? item.querySelector(isUp ? "[value^=down]" : "[value^=up]") : button).focus();
    item.scrollIntoView({ block: "nearest" });
  });

  // While a question is dragged, a line shows where it will be dropped: above `target`, or below the last one.
  let dragged = null;
  let target = null;

  const hideLine = () => items.querySelector(".drop")?.classList.remove("drop", "below");

  function aim(next) {
    hideLine();
    target = next;
    const beside = next ?? items.lastElementChild;
    beside.classList.add("drop");
    beside.classList.toggle("below", !next);
  }

  function drop({ type }) {
    if (!dragged) return;
    hideLine();
    dragged.classList.remove("dragged");
    const isElsewhere = target !== dragged && target !== dragged.nextElementSibling;
    if (type === "pointerup" && isElsewhere) move(dragged, target);
    dragged = null;
  }

  for (const item of items.children) {
    const grip = document.createElement("span");
    grip.className = "grip";
    grip.title = "Drag to move";
    item.append(grip);
  }
  items.addEventListener("pointerdown", (event) => {
    if (!event.target.matches(".grip")) return;
    event.preventDefault();
    event.target.setPointerCapture(event.pointerId);
    dragged = target = event.target.closest(".item");
    dragged.classList.add("dragged");
  });
  items.addEventListener("pointermove", ({ clientY }) => {
    if (!dragged) return;
    if (clientY < 80) scrollBy(0, -20);
    if (clientY > innerHeight - 120) scrollBy(0, 20);
    const isBelow = (item) => {
      const { top, height } = item.getBoundingClientRect();
      return clientY < top + height / 2;
    };
    aim([...items.children].find(isBelow) ?? null);
  });
  for (const type of ["pointerup", "pointercancel"]) items.addEventListener(type, drop);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") drop(event);
  });

  document.getElementById("live").hidden = false;
  form.addEventListener("focusin", ({ target }) => {
    if (!target.dataset.max) return;
    showCount(target);
    target.closest(".item").append(count);
    focused = [...items.children].indexOf(target.closest(".item"));
    follow();
  });
  // Pasted Markdown changes the format of the answers to Markdown.
  form.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (event.target.name !== "answer" || !/\*\*\S|\]\(|^ {0,3}(?:[-*+]|1[.)]) \S/m.test(text)) return;
    if (answerFormat.value === "text" && [...form.querySelectorAll("[name=answer]")].every((each) => !each.value)) {
      answerFormat.value = "markdown";
      showTools();
    }
  });
  [...items.children].forEach(addTools);
  answerFormat.addEventListener("change", showTools);
  showTools();
  form.addEventListener("input", ({ target }) => {
    if (target.dataset.max) showCount(target);
    changed();
  });
  form.addEventListener("submit", ({ submitter }) => {
    isUnsaved = false;
    if (["draft", "publish"].includes(submitter?.value)) saved.textContent = "Saving …";
  });
  window.addEventListener("beforeunload", (event) => {
    if (isUnsaved) event.preventDefault();
  });
}
