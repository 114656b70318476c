// The page on which an FAQ is written: preview, counters, format, paste, and one open question at a time.
"use strict";

let isUnsaved = false;
let written = null;  // the field that had the focus last

function startWriting() {
  const form = document.getElementById("write");
  isUnsaved = Boolean(form?.dataset.unsaved);
  written = null;
  if (!form) return;
  const sheet = document.getElementById("preview-sheet");
  const said = document.getElementById("said");
  const items = document.getElementById("items");
  const saved = document.getElementById("saved");
  const answerFormat = form.elements.answer_format;
  const number = new Intl.NumberFormat("en");
  const count = document.createElement("span");
  count.className = "count";
  count.setAttribute("aria-hidden", "true");
  let timer = 0;
  let latest = 0;
  let focused = 0;

  const field = (item, name) => item.querySelector(`[name=${name}]`);
  const isShown = (item) => ["question", "answer"].every((name) => field(item, name).value.trim());

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

  async function refresh() {
    const mine = ++latest;
    const body = new URLSearchParams([...new FormData(form)]);
    body.set("action", "preview");
    body.set("part", "preview");
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body });
      const html = await response.text();
      if (!isOurs(response) || mine !== latest || isSending) return;
      const open = [...sheet.querySelectorAll("details")].map((item) => item.open);
      sheet.innerHTML = html || '<p class="soft">Write a question and its answer to see them here.</p>';
      [...sheet.querySelectorAll("details")].forEach((item, index) => {
        item.open = Boolean(open[index]);
      });
      follow();
      const { slug, proposed } = form.elements;
      if (proposed && slug.value === proposed.value) slug.value = proposed.value = response.headers.get("x-slug") ?? "";
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
  function showCount({ value, dataset }) {
    const used = [...value].length;
    count.dataset.left = dataset.max - used;
    count.classList.toggle("over", used > dataset.max);
    count.textContent = `${number.format(used)} of ${number.format(dataset.max)} characters`;
  }

  // The line of a closed question.
  function showLine(item) {
    item.querySelector(".asked").textContent = field(item, "question").value.trim() || "Empty";
    item.querySelector(".tag").textContent = field(item, "section").value.trim();
  }

  function move(item, before) {
    items.insertBefore(item, before);
    [...items.children].forEach((each, index, { length }) => {
      each.querySelector(".n").textContent = index + 1;
      each.querySelector(".fields").setAttribute("aria-label", `Question ${index + 1}`);
      for (const button of each.querySelectorAll("[name=action]")) {
        const [name] = button.value.split(":");
        button.value = `${name}:${name === "add" ? index + 1 : index}`;
        button.querySelector(".away").textContent = ` question ${index + 1}`;
        button.disabled = (name === "up" && index === 0) || (name === "down" && index === length - 1);
      }
    });
    said.textContent = `Now Question ${item.querySelector(".n").textContent} of ${items.children.length}`;
    changed();
  }

  function moveBy(item, isUp) {
    const next = isUp ? item.previousElementSibling : item.nextElementSibling;
    if (!next) return;
    move(item, isUp ? next : next.nextElementSibling);
    item.scrollIntoView({ block: "nearest" });
  }

  items.addEventListener("click", (event) => {
    if (event.target.matches(".grip")) event.preventDefault();
    const removed = event.target.closest("[value^=remove]")?.closest(".item");
    if (removed && field(removed, "answer").value.trim() && !confirm("Remove this question and its answer?")) event.preventDefault();
    const button = event.target.closest("[value^=up], [value^=down]");
    if (!button) return;
    event.preventDefault();
    const isUp = button.value.startsWith("up");
    const item = button.closest(".item");
    moveBy(item, isUp);
    // At an end of the list, the button is disabled and loses the focus.
    (button.disabled ? item.querySelector(isUp ? "[value^=down]" : "[value^=up]") : button).focus();
  });
  items.addEventListener("keydown", (event) => {
    const { altKey, key, target } = event;
    if (!altKey || !["ArrowUp", "ArrowDown"].includes(key) || !target.matches("summary")) return;
    event.preventDefault();
    moveBy(target.closest(".item"), key === "ArrowUp");
    target.focus();
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
    item.firstElementChild.append(grip);
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
  document.body.addEventListener("keydown", (event) => {
    if (event.key === "Escape") drop(event);
  });

  // Finds each word in the question, the answer and the section together.
  const find = document.getElementById("find");
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toUpperCase();

  function showFound() {
    const words = folded(find.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const item of items.children) {
      const text = folded(["question", "answer", "section"].map((name) => field(item, name).value).join("\n"));
      item.hidden = !words.every((word) => text.includes(word));
      found += !item.hidden;
    }
    document.getElementById("found").textContent = words.length ? `${found} of ${items.children.length}` : "";
  }

  if (find) {
    find.parentElement.hidden = false;
    find.addEventListener("input", (event) => {
      event.stopPropagation();  // it is no change of the FAQ
      showFound();
    });
    find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        const first = [...items.children].find((item) => !item.hidden);
        if (first) {
          first.open = true;
          const question = field(first, "question");
          question.focus();
          question.setSelectionRange(question.value.length, question.value.length);
        }
      } else if (event.key === "Escape") {
        find.value = "";
        showFound();
      }
    });
  }

  // A question with a mistake, or that an address names, is open.
  const reveal = () => {
    const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const item = named?.closest?.(".item");
    if (item) item.open = true;
  };
  reveal();
  onhashchange = reveal;
  items.addEventListener("toggle", ({ target: item }) => {
    if (item.open && item.name) item.scrollIntoView({ block: "nearest" });
  }, true);

  document.getElementById("live").hidden = false;
  form.addEventListener("focusin", ({ target: entered }) => {
    if (entered.matches("input, textarea")) written = entered;
    const item = entered.closest(".item");
    if (!entered.dataset.max || !item) return;
    showCount(entered);
    item.querySelector(".grip").before(count);
    focused = [...items.children].indexOf(item);
    follow();
  });

  const showTools = () => form.classList.toggle("markdown", answerFormat.value === "markdown");
  const texts = [...form.querySelectorAll("[name=answer], [name=introduction]")];
  for (const text of texts) addTools(text);
  answerFormat.addEventListener("change", showTools);
  showTools();
  form.addEventListener("paste", (event) => {
    const plain = event.clipboardData.getData("text").replace(/\r\n?/g, "\n");
    const asked = plain.match(/[?？][ \t]*$/gm) ?? [];
    for (const said of event.target.parentElement.querySelectorAll(".pasted")) said.remove();
    if (asked.length > 1 && event.target.matches("[name=question], [name=answer]")) {
      sayBelow(event.target, `This text has ${asked.length} questions. “Import”, beside “New FAQ” in the list, reads them all at once.`);
    }
    if (!texts.includes(event.target)) return;
    const listed = withLists(plain);
    const { html, left } = cleaned(event.clipboardData.getData("text/html"), plain);
    // Pasted Markdown changes the format of answers that are still empty to Markdown.
    const hasMarks = /\*\*\S|\]\(|^ {0,3}(?:[-*+]|1[.)]) \S/m.test(listed);
    if (answerFormat.value === "text" && texts.every((each) => !each.value) && (html || hasMarks)) answerFormat.value = "markdown";
    showTools();
    if (answerFormat.value === "markdown" && (html || listed !== plain)) paste(event, listed, html, left);
  });
  form.addEventListener("input", ({ target: written }) => {
    if (written.dataset.max) showCount(written);
    const item = written.closest(".item");
    if (item) showLine(item);
    changed();
  });
}

// What was typed into the field of an address but not added yet is added before the form is sent.
document.addEventListener("submit", () => document.querySelector(".address [name=address]")?.dispatchEvent(new Event("add")), true);
// After Back, browsers restore typed text. It is unsaved, and belongs in the preview.
addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("#write :is(input, textarea)")) {
    if (field.value !== field.defaultValue) field.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
addEventListener("beforeunload", (event) => {
  if (isUnsaved) event.preventDefault();
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
  const button = document.querySelector(".save [value=draft]");
  if (!button) return;
  event.preventDefault();
  button.form.requestSubmit(button);
});

// Whether a response has the requested content, and is no error and no sign-in page of a proxy.
const isOurs = ({ ok, redirected }) => ok && !redirected;

// Replaces the selection of a field so that it can be undone.
function insert(text, inserted, start = text.selectionStart, end = text.selectionEnd) {
  text.focus();
  text.setSelectionRange(start, end);
  if (document.execCommand("insertText", false, inserted)) return;
  text.setRangeText(inserted, start, end, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

function sayBelow(text, said) {
  const note = document.createElement("p");
  note.className = "hint pasted";
  note.setAttribute("role", "status");
  text.parentElement.append(note);
  note.textContent = said;
}

// B, Link and List above a field; in the document they follow it, so that Tab goes from the question to the answer.
function addTools(text) {
  const bar = document.createElement("p");
  bar.className = "format";
  const selected = () => text.value.slice(text.selectionStart, text.selectionEnd);
  // The marks of bold text stand beside its words, in each line; those that are there are removed.
  const bold = () => {
    const { selectionStart: start, selectionEnd: end, value } = text;
    const word = selected() || "bold";
    if (value.slice(0, start).endsWith("**") && value.startsWith("**", end)) {
      insert(text, word, start - 2, end + 2);
      return text.setSelectionRange(start - 2, end - 2);
    }
    const marked = word.replace(/^(\s*(?:[-*+] |\d+[.)] )?)(\S.*?)(\s*)$/gm, "$1**$2**$3");
    insert(text, marked);
    const isWord = marked === `**${word}**`;
    text.setSelectionRange(start + (isWord ? 2 : 0), start + marked.length - (isWord ? 2 : 0));
  };
  const list = () => {
    const start = text.value.lastIndexOf("\n", text.selectionStart - 1) + 1;
    const lines = text.value.slice(start, text.selectionEnd) || "first";
    if (/^(?:- .*\n?|\n)+$/.test(lines)) return insert(text, lines.replace(/^- /gm, ""), start);
    const isFirst = start === 0 || text.value[start - 2] === "\n";
    insert(text, `${isFirst ? "" : "\n"}${lines.replace(/^(?!- |$)/gm, "- ")}`, start);
  };
  const link = () => {
    const word = selected().trim();
    const start = text.selectionStart + selected().indexOf(word);
    if (ADDRESS.test(word)) {
      insert(text, `[text](${completed(word)})`, start, start + word.length);
      text.setSelectionRange(start + 1, start + 5);
    } else askAddress(text, bar, start, word);
  };
  for (const [label, name, act] of [["B", "Bold", bold], ["Link", "Link", link], ["List", "List", list]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = label;
    const setName = () => {
      button.ariaLabel = `${name} in ${text.closest(".fields")?.getAttribute("aria-label") ?? "the introduction"}`;
    };
    setName();
    button.addEventListener("focus", setName);  // questions may have moved
    button.addEventListener("click", act);
    bar.append(button);
  }
  text.parentElement.classList.add("with-format");
  text.parentElement.append(bar);
}

const ADDRESS = /^(?:(?:https?:\/\/|mailto:|tel:)\S+|\/\S*|(?:[^\s:/?#@]+\.)+[^\s:/?#@.]{2,}(?:[:/?#]\S*)?|[^\s@:]+@[^\s@:]+\.[^\s@:]+)$/i;

function completed(address) {
  if (/^(?:https?:\/\/|mailto:|tel:|\/)/i.test(address)) return address.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"));
  return completed(`${address.includes("@") ? "mailto:" : "https://"}${address}`);
}

// Asks for the address of a link in the bar; an address that leads nowhere is not added.
function askAddress(text, bar, start, word) {
  document.querySelector(".address")?.remove();
  const row = document.createElement("span");
  row.className = "address";
  row.innerHTML =
    '<input name="address" form="nothing" inputmode="url" autocapitalize="none" spellcheck="false" placeholder="https://" aria-label="Address of the link">' +
    '<button type="button" class="small">Add link</button><span class="error" role="alert"></span>';
  const [input, button, error] = row.children;
  const add = () => {
    const address = input.value.trim();
    if (!ADDRESS.test(address)) {
      error.textContent = "Write an address such as https://www.example.com.";
      return input.focus();
    }
    row.remove();
    const shown = word || address;
    insert(text, `[${shown}](${completed(address)})`, start, start + word.length);
    if (!word) text.setSelectionRange(start + 1, start + 1 + shown.length);
  };
  input.addEventListener("add", () => (input.value.trim() ? add() : row.remove()));
  input.addEventListener("input", (event) => event.stopPropagation());
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      add();
    } else if (event.key === "Escape") {
      row.remove();
      text.focus();
      text.setSelectionRange(start, start + word.length);
    }
  });
  button.addEventListener("click", add);
  bar.append(row);
  input.focus();
}

// Pastes an FAQ from a page, a document or a table as Markdown. Rows that ask nothing, Markdown and source code are pasted as they are.
function startImport() {
  const field = document.querySelector("textarea.paste");
  field?.addEventListener("paste", (event) => {
    field.parentElement.querySelector(".pasted")?.remove();
    const plain = event.clipboardData.getData("text").replace(/\r\n?/g, "\n");
    const { html, left } = cleaned(event.clipboardData.getData("text/html"), plain);
    const asked = withHeadings(html);
    const isRows = /^[^\n]*\S\t/.test(plain);
    if (asked || (html && !isRows)) paste(event, withLists(plain), asked || html, left);
  });
}

// Returns HTML in which headings and texts replace each table of questions and answers; empty if there is no such table.
// Cells may have paragraphs and lists.
function withHeadings(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const before = page.body.innerHTML;
  for (const table of page.querySelectorAll("table")) {
    const rows = [...table.rows].map(({ cells }) => [...cells]).filter((cells) => cells.length);
    const asking = rows.filter(([question, answer]) => answer && /[?？]\s*$/.test(question.textContent));
    if (!asking.length || 2 * asking.length < rows.length || rows.some((cells) => cells.length > 2)) continue;
    const hasHeader = /^\s*(?:questions?|fragen?|preguntas?|質問|问题|問題|질문)\s*$/i.test(rows[0][0].textContent);
    for (const [question, answer] of hasHeader ? rows.slice(1) : rows) {
      const heading = page.createElement(answer ? "h3" : "h2");
      for (const end of question.querySelectorAll("br, p, div")) end.after(" ");
      heading.textContent = question.textContent;
      table.before(heading, ...(answer?.childNodes ?? []));
    }
    table.remove();
  }
  return page.body.innerHTML === before ? "" : page.body.innerHTML;
}

// Inserts what was copied, HTML as Markdown, and says what was left out.
async function paste(event, plain, html, left) {
  const text = event.target;
  event.preventDefault();
  insert(text, html ? await toMarkdown(text, html, plain) : plain);
  if (left) sayBelow(text, `Left out: ${left}.`);
}

// Returns plain text from Word with its lists as Markdown.
function withLists(plain) {
  const bullets = plain.replace(/^[ \t]*(?:[•·▪◦‣][\t\u00a0 ]*|o(?:\t|[ \u00a0]{2,})[\t\u00a0 ]*)(?=\S)/gm, "- ");
  const text = bullets.replace(/^[ \t]*(?:\d{1,3}|[a-z])[.)]\t[\t ]*(?=\S)/gm, "1. ");
  return text === plain ? plain : text.replace(/^(?!- |1\. )(.*\S.*)\n(?=- |1\. )/gm, "$1\n\n");
}

// Asks the service for HTML as Markdown; returns the plain text if that fails.
async function toMarkdown(text, html, plain) {
  const body = new URLSearchParams({ token: text.form.elements.token.value, part: "pasted", field: text.name, html });
  try {
    const response = await fetch(`${document.querySelector(".brand a").pathname}/new`, { method: "POST", body });
    return isOurs(response) ? await response.text() : plain;
  } catch {
    return plain;
  }
}

// The elements for styles of Word and Google Docs, the names of what is left out, and what Markdown can show.
const STYLES = { b: /font-weight:\s*(?:bold|[6-9]00)/i, i: /font-style:\s*italic/i, s: /text-decoration(?:-line)?:\s*line-through/i, sup: /vertical-align:\s*super/i, sub: /vertical-align:\s*sub(?!\w)/i };
const LEFT = { ".msocomanchor, [style*='mso-element:comment' i]": "comment", "img, svg": "picture", video: "video", audio: "audio file", iframe: "embedded page", "input, textarea, select": "form field" };
const SHOWN = "a, b, strong, i, em, s, strike, del, sup, sub, code, pre, ul, ol, table, blockquote, h1, h2, h3, h4, h5, h6";

// Returns pasted HTML with elements instead of styles, and the names of what was left out. The HTML is empty for plain text, and
// for Markdown and source code, which code editors and terminals copy with colours.
function cleaned(html, plain) {
  if (/^#{1,6} \S|\*\*\S|\]\(/m.test(plain) || /^(?:<meta[^>]*>|<!--.*?-->|\s)*<pre[\s>]/.test(html)) return { html: "", left: "" };
  const page = new DOMParser().parseFromString(html, "text/html");
  const all = (selector) => [...page.body.querySelectorAll(selector)];
  const style = (node) => node.getAttribute("style") ?? "";
  const left = {};
  for (const [selector, name] of Object.entries(LEFT)) {
    for (const node of all(selector)) {
      left[name] = (left[name] ?? 0) + 1;
      node.remove();
    }
  }
  for (const node of all("a[href]")) {
    const address = target(node.getAttribute("href"));
    const blocks = [...node.children].filter((child) => child.matches("p, div"));
    if (blocks.length) node.textContent = blocks.map((block) => block.textContent.trim()).join(" ");
    if (address) node.setAttribute("href", address);
    else {
      left["link without a web address"] = (left["link without a web address"] ?? 0) + 1;
      node.replaceWith(...node.childNodes);
    }
  }
  for (const node of all("p[role=heading], [data-node-type=expand]")) {  // of Word in browsers, and of Confluence
    const heading = page.createElement(`h${node.ariaLevel ?? 3}`);
    heading.append(...(node.dataset.title ? [node.dataset.title] : node.childNodes));
    node.prepend(heading);
  }
  for (const node of all("span[style*='display: block']")) {  // between the paragraphs of Slack
    const block = page.createElement("div");
    block.append(...node.childNodes);
    node.replaceWith(block);
  }
  listParagraphs(page, all("[style*='mso-list:' i], [class*=MsoListParagraph]"), style);
  for (const node of all("[style]")) {
    for (const [tag, stated] of Object.entries(STYLES)) {
      if (!stated.test(style(node)) || node.matches(tag)) continue;
      const mark = page.createElement(tag);
      mark.append(...node.childNodes);
      node.append(mark);
    }
    if (node.matches("b") && /font-weight:\s*(?:normal|[1-5]00)/i.test(style(node))) node.replaceWith(...node.childNodes);
  }
  for (const list of all(":is(ul, ol) > :is(ul, ol)")) list.previousElementSibling?.append(list);  // as Google Docs nests them
  const named = Object.entries(left).map(([name, times]) => `${times} ${times === 1 ? name : name.replace(/^link|$/, (end) => `${end}s`)}`);
  return { html: page.body.querySelector(SHOWN) || named.length ? page.body.innerHTML : "", left: named.join(", ") };
}

// Turns the paragraphs that Word shows as items of lists into lists.
function listParagraphs(page, paragraphs, style) {
  let open = [];
  for (const item of paragraphs.filter((node) => !/mso-list:\s*ignore/i.test(style(node)))) {
    const sign = [...item.querySelectorAll("[style]")].find((node) => /mso-list:\s*ignore/i.test(style(node)));
    const tag = /^\s*(?:\d+|\w)[.)]/.test(sign?.textContent ?? "") ? "ol" : "ul";
    const depth = Number(/level(\d)/.exec(style(item))?.[1] ?? 1);
    if (item.previousElementSibling !== open[0]) open = [];
    open = open.slice(0, depth);
    while (open.length < depth) {
      const list = page.createElement(tag);
      if (open.length) (open.at(-1).lastElementChild ?? open.at(-1)).append(list);
      else item.before(list);
      open.push(list);
    }
    sign?.remove();
    const entry = page.createElement("li");
    entry.append(...item.childNodes);
    open.at(-1).append(entry);
    item.remove();
  }
}

// Returns the address of a link, also of one that Google Docs or Outlook redirects; empty if it leads nowhere.
function target(address) {
  try {
    const url = new URL(address);
    const isRedirect = /(?:^|\.)google\.com\/url$|\.safelinks\.protection\.outlook\.com\/$/.test(url.hostname + url.pathname);
    if (isRedirect) address = url.searchParams.get("q") ?? url.searchParams.get("url") ?? address;
  } catch {
    return "";
  }
  return /^(?:https?:\/\/[^\s/]|mailto:.|tel:.)/i.test(address) ? completed(address) : "";
}
