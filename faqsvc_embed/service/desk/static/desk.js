// Times in the editor's format, a preview that follows while somebody writes, and a question before unsaved text
// is lost. The desk works without this script.
"use strict";

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = format.format(new Date(time.dateTime));
}

const form = document.getElementById("write");
const sheet = document.getElementById("preview-sheet");

if (form && sheet && form.querySelector("[name=action]")) {
  let timer = 0;
  let latest = 0;
  let isUnsaved = form.dataset.unsaved !== "";

  const refresh = async () => {
    const number = ++latest;
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form)) body.append(name, value);
    body.set("action", "preview");
    body.set("part", "preview");
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body });
      const html = await response.text();
      if (!response.ok || number !== latest) return;
      const open = [...sheet.querySelectorAll("details")].map((item) => item.open);
      sheet.innerHTML = html || '<p class="soft">Write a question and its answer to see them here.</p>';
      [...sheet.querySelectorAll("details")].forEach((item, index) => {
        item.open = Boolean(open[index]);
      });
    } catch {
      // The network failed; the next change tries again.
    }
  };

  document.getElementById("live").hidden = false;
  form.addEventListener("input", () => {
    isUnsaved = true;
    clearTimeout(timer);
    timer = setTimeout(refresh, 400);
  });
  form.addEventListener("submit", () => {
    isUnsaved = false;
  });
  window.addEventListener("beforeunload", (event) => {
    if (isUnsaved) event.preventDefault();
  });
}
