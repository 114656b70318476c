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
      if (!response.ok || mine !== latest) return;
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
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

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
    if (!texts.includes(event.target)) return;
    // Pasted Markdown changes the format of answers that are still empty to Markdown.
    if (answerFormat.value === "text" && texts.every((each) => !each.value)) {
      const plain = event.clipboardData.getData("text");
      const hasMarks = /\*\*\S|\]\(|^ {0,3}(?:[-*+]|1[.)]) \S/m.test(plain);
      if (hasMarks || convertedPaste(event.clipboardData)) answerFormat.value = "markdown";
      showTools();
    }
    if (answerFormat.value !== "markdown") return;
    const pasted = convertedPaste(event.clipboardData);
    if (!pasted) return;
    event.preventDefault();
    insert(event.target, pasted.text);
    sayBelow(event.target, pasted.note);
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

// Replaces the selection of a field so that it can be undone.
function insert(text, inserted, start = text.selectionStart, end = text.selectionEnd) {
  text.focus();
  text.setSelectionRange(start, end);
  if (document.execCommand("insertText", false, inserted)) return;
  text.setRangeText(inserted, start, end, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

function sayBelow(text, said) {
  text.parentElement.querySelector(".pasted")?.remove();
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
  const of = text.name === "introduction" ? "the introduction" : () => text.closest(".fields").getAttribute("aria-label");
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
    button.ariaLabel = `${name} in ${typeof of === "string" ? of : of()}`;
    button.addEventListener("focus", () => {
      button.ariaLabel = `${name} in ${typeof of === "string" ? of : of()}`;  // questions may have moved
    });
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

// Pasted text of Word, Google Docs and web pages as Markdown, with a note of what came and what did not; null if it
// has nothing that Markdown could keep.
function convertedPaste(clipboard) {
  const html = clipboard.getData("text/html");
  if (!html) {
    const plain = clipboard.getData("text").replace(/\r\n?/g, "\n");
    const bullets = plain.replace(/^[ \t]*(?:[•·▪◦‣][\t\u00a0 ]*|o(?:\t|[ \u00a0]{2,})[\t\u00a0 ]*)(?=\S)/gm, "- ");
    const text = bullets.replace(/^[ \t]*(?:\d{1,3}|[a-z])[.)]\t[\t ]*(?=\S)/gm, "1. ");
    if (text === plain) return null;
    return { text: text.replace(/^(?!- |1\. )(.*\S.*)\n(?=- |1\. )/gm, "$1\n\n"), note: "Kept: the list." };
  }
  const page = new DOMParser().parseFromString(html, "text/html");
  const kept = {};
  const left = {};
  const add = (counts, name) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const LEFT = { IMG: "picture", SVG: "picture", VIDEO: "video", AUDIO: "audio file", IFRAME: "embedded page", INPUT: "form field", TEXTAREA: "form field", SELECT: "form field" };
  const BLOCKS = /^(?:P|DIV|SECTION|ARTICLE|HEADER|FOOTER|MAIN|BLOCKQUOTE|PRE|FIGURE|DL|DT|DD|H[1-6]|UL|OL|LI|TABLE|TBODY|THEAD|TR|TD|TH|HR|DETAILS|SUMMARY)$/;
  const CONTAINERS = "p, div, ul, ol, dl, table, blockquote, pre, h1, h2, h3, h4, h5, h6";
  const style = (node) => node.getAttribute("style") ?? "";
  const isStyled = (node, property, value, tags) => {
    const found = new RegExp(`${property}:\\s*([\\w-]+)`).exec(style(node))?.[1];
    return found ? value.test(found) : tags.test(node.tagName);
  };
  // The marks of an element: its letters, its name, and what stands before and after its words.
  const MARKS = [
    ["b", "bold text", (node) => isStyled(node, "font-weight", /^(?:bold|[6-9]00)$/, /^(?:B|STRONG|H[1-6]|TH)$/), "**"],
    ["i", "italic text", (node) => isStyled(node, "font-style", /italic/, /^(?:I|EM)$/), "*"],
    ["s", "struck text", (node) => isStyled(node, "text-decoration(?:-line)?", /line-through/, /^(?:S|STRIKE|DEL)$/), "~~"],
    ["^", "raised text", (node) => isStyled(node, "vertical-align", /super/, /^SUP$/), "<sup>", "</sup>"],
    ["_", "lowered text", (node) => isStyled(node, "vertical-align", /sub/, /^SUB$/), "<sub>", "</sub>"],
  ];
  const marksOf = (node, outer) => MARKS.filter(([mark, , has]) => !outer.includes(mark) && has(node)).map(([mark]) => mark).join("");

  // Marks stand beside a word, not beside a blank.
  function marked(text, marks) {
    for (const [mark, name, , before, after = before] of MARKS) {
      if (!marks.includes(mark) || !text.trim()) continue;
      if (name) add(kept, name);
      text = text.replace(/^(\s*)([^]*?)(\s*)$/, (_, left, words, right) => `${left}${before}${words}${after}${right}`);
    }
    return text;
  }

  function target(node) {
    let address = node.getAttribute("href") ?? "";
    try {
      const url = new URL(address);
      if (url.hostname.endsWith("google.com") && url.pathname === "/url") address = url.searchParams.get("q") ?? address;
    } catch {
      return "";
    }
    return /^(?:https?:\/\/[^\s/]|mailto:.|tel:.)/i.test(address) ? completed(address) : "";
  }

  function inline(node, outer = "") {
    if (node.nodeType === Node.TEXT_NODE) {
      return node.data.replace(/[ \t\r\n\u00a0]+/g, " ").replace(/[\\*_`[\]<~]/g, "\\$&").replace(/(\w)\\_(?=\w)/g, "$1_");
    }
    if (node.nodeType !== Node.ELEMENT_NODE || /^(?:STYLE|SCRIPT|TITLE|META|LINK|HEAD)$/.test(node.tagName)) return "";
    if (/mso-list:\s*ignore/i.test(style(node))) return "";
    if (node.tagName === "BR") return "\n";
    if (LEFT[node.tagName.toUpperCase()]) return add(left, LEFT[node.tagName.toUpperCase()]) ?? "";
    const marks = marksOf(node, outer);
    let text = [...node.childNodes].map((child) => inline(child, outer + marks)).join("");
    if (node.tagName === "A" && text.trim()) {
      const address = target(node);
      if (address) {
        add(kept, "link");
        text = text.replace(/\s*\n\s*/g, " ").replace(/^(\s*)([^]*?)(\s*)$/, (_, before, words, after) => `${before}[${words}](${address})${after}`);
      } else if (node.getAttribute("href")) add(left, "link without a web address");
    }
    text = marked(text, marks);
    return BLOCKS.test(node.tagName) ? `\n${text}\n` : text;
  }

  const tidy = (text) =>
    text.replace(/ {2,}/g, " ").replace(/\*\*( ?)\*\*/g, "$1").replace(/ *\n */g, "\n").replace(/\n{3,}/g, "\n\n").trim()
      .replace(/^(?=(?:#|>|[-+] |\d+[.)] ))/gm, "\\").replace(/\n/g, "  \n");
  const oneLine = (text) => tidy(text).replace(/\s*\n\s*/g, " ");

  function list(node, depth) {
    let at = Number(node.getAttribute("start") ?? 1);
    const lines = [];
    for (const child of node.children) {
      if (/^[UO]L$/.test(child.tagName)) lines.push(...list(child, depth + 1));  // as Google Docs nests them
      else if (child.tagName === "LI") {
        const inner = [...child.childNodes].filter((one) => !/^[UO]L$/.test(one.nodeName));
        const mark = node.tagName === "OL" ? `${at++}. ` : "- ";
        const text = oneLine(inner.map((one) => inline(one)).join(""));
        if (text) lines.push(`${"   ".repeat(depth)}${mark}${text}`);
        for (const one of child.children) if (/^[UO]L$/.test(one.tagName)) lines.push(...list(one, depth + 1));
      }
    }
    return lines;
  }

  function table(rows) {
    const cells = rows.map((row) => [...row.cells].flatMap((cell) => [oneLine(inline(cell)).replaceAll("|", "\\|"), ...Array(cell.colSpan - 1).fill("")]));
    const width = Math.max(...cells.map((row) => row.length));
    add(kept, "table");
    const line = (row) => `| ${[...row, ...Array(width - row.length).fill("")].join(" | ")} |`;
    return [line(cells[0].map((cell) => cell.replace(/^\*\*(.*)\*\*$/, "$1"))), line(Array(width).fill("---")), ...cells.slice(1).map(line)].join("\n");
  }

  const parts = [];
  let run = "";
  const flush = (marks) => {
    const text = tidy(marked(run, marks));
    if (text) parts.push({ text });
    run = "";
  };

  function walk(node, marks = "") {
    for (const child of node.childNodes) {
      const rows = child.tagName === "TABLE" ? [...child.querySelectorAll("tr")] : [];
      if (child.nodeType !== Node.ELEMENT_NODE) run += inline(child, marks);
      else if (/^[UO]L$/.test(child.tagName)) {
        flush(marks);
        const lines = list(child, 0);
        if (lines.length) add(kept, "list");
        parts.push({ text: lines.join("\n") });
      } else if (rows.some((row) => row.cells.length > 1)) {
        flush(marks);
        parts.push({ text: table(rows) });
      } else if (/mso-list:/i.test(style(child)) || /MsoListParagraph/.test(child.className)) {
        flush(marks);
        const mark = [...child.querySelectorAll("[style]")].find((one) => /mso-list:\s*ignore/i.test(style(one)))?.textContent.trim() ?? "";
        const depth = Number(/level(\d)/.exec(style(child))?.[1] ?? 1) - 1;
        if (!parts.at(-1)?.isItem) add(kept, "list");
        parts.push({ text: `${"   ".repeat(depth)}${/^(?:\d+|\w)[.)]/.test(mark) ? "1. " : "- "}${oneLine(inline(child))}`, isItem: true });
      } else if (child.tagName !== "A" && (BLOCKS.test(child.tagName) || child.querySelector(CONTAINERS))) {
        flush(marks);
        walk(child, marks + marksOf(child, marks));
      } else run += inline(child, marks);
    }
    flush(marks);
  }

  walk(page.body);
  const text = parts.filter((part) => part.text).map((part, index, all) => `${index ? (part.isItem && all[index - 1].isItem ? "\n" : "\n\n") : ""}${part.text}`).join("");
  const plural = (name) => (name.startsWith("link ") ? name.replace("link", "links") : `${name}s`);
  const named = (counts) => Object.entries(counts).map(([name, times]) => `${times} ${times === 1 ? name : plural(name)}`).join(", ");
  if (!Object.keys(kept).length && !Object.keys(left).length) return null;
  const notes = [Object.keys(kept).length ? `Kept: ${named(kept)}.` : "", Object.keys(left).length ? `Left out: ${named(left)}.` : ""];
  return { text, note: notes.filter(Boolean).join(" ") };
}
