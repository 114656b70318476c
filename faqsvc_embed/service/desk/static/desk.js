// The desk works without this script. It sends forms without leaving the page before a response has come, writes times
// in the editor's time zone, and copies lines. editor.js is for the page on which an FAQ is written.
"use strict";

// "2 hours ago" for a day, then the date; the full time is in the title.
const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function showTimes() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    const minutes = Math.round((date - Date.now()) / 60_000);
    time.title = format.format(date);
    if (minutes === 0) time.textContent = "just now";
    else if (Math.abs(minutes) < 60) time.textContent = relative.format(minutes, "minute");
    else if (Math.abs(minutes) < 24 * 60) time.textContent = relative.format(Math.trunc(minutes / 60), "hour");
    else time.textContent = day.format(date);
  }
}

// The token of a sign-in link is in the fragment, so that no log has it. Without this script, the link is pasted.
function takeLink() {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (!link) return;
  const field = document.getElementById("link");
  // A person who is signed in was redirected to this page.
  const root = document.querySelector(".brand a").pathname;
  if (!field) return location.replace(`${root}/sign-in?again${location.hash}`);
  field.value = link;
  field.closest(".field").hidden = true;
  document.getElementById("with-link").hidden = false;
  field.form.querySelector("button").focus();
}

// The clipboard is available only in secure contexts.
function addCopyButtons() {
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
}

const TIMEOUT = 90_000;
let isSending = false;
let shown = addressOf(location);

// Returns the address of a page without the version of its form (`keepVersion`).
function addressOf(location) {
  const address = new URL(location);
  address.searchParams.delete("version");
  return address.pathname + address.search;
}

// Forms are sent with fetch, because after a lost connection the error page of the browser would replace the typed text.
async function send(form, submitter) {
  if (isSending) return;
  isSending = true;
  document.getElementById("unsent")?.remove();
  const saved = document.getElementById("saved");
  const before = saved?.textContent;
  if (saved && ["draft", "publish"].includes(submitter?.value)) saved.textContent = "Saving …";
  const typed = () => String([...new FormData(form)]);
  const sent = typed();
  const body = new FormData(form);
  if (submitter?.name) body.append(submitter.name, submitter.value);
  const stay = submitter?.value === "draft" ? placeOf(written) : () => {};
  try {
    const response = await fetch(form.getAttribute("action") || location.href, {
      method: "POST",
      body: form.enctype === "multipart/form-data" ? body : new URLSearchParams([...body]),
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!page.querySelector(".brand")) {  // no page of the desk, so probably one of a proxy
      const advice = response.status < 500 ? " Sign in again in another tab." : "";
      throw new Error(`The server responded with an unexpected page (${response.status}).${advice}`);
    }
    const refused = page.getElementById("refused");
    if (refused) throw new Error(refused.textContent);  // showing the error page would remove the typed text
    if (response.redirected) history.replaceState(null, "", response.url);
    if (form.id === "write" && typed() !== sent) {
      isSending = false;
      return response.redirected && page.getElementById("write") ? keep(form, submitter, page) : send(form, submitter);
    }
    show(page);
    if (response.redirected) stay();
  } catch (error) {
    const isLost = ["TypeError", "TimeoutError", "AbortError"].includes(error.name);
    const text = isLost ? "The server did not respond. Check your network, or sign in again in another tab." : error.message;
    sayUnsent(form, submitter, `${text} What you wrote is still here. Try again.`);
    if (saved) saved.textContent = before;
  }
  isSending = false;
}

// Keeps the form, because the new page lacks what was typed after sending. The form now changes the revision that was saved.
function keep(form, submitter, page) {
  const next = page.getElementById("write");
  form.setAttribute("action", next.getAttribute("action"));
  for (const name of ["version", "lang"]) form.elements[name].value = next.elements[name].value;
  document.getElementById("saved").textContent = "Unsaved";
  const done = submitter?.value === "discard" ? "The draft was discarded, but not" : "This was saved without";
  sayUnsent(form, submitter, `${done} your last words. What you wrote is still here. Save again.`);
  keepVersion(form);
}

// Puts the version that the typed text changes into the address, where it is found after Back.
function keepVersion(form) {
  const address = new URL(location);
  const version = form?.elements.version?.value ?? null;
  if (version === null || address.searchParams.get("version") === version) return;
  address.searchParams.set("version", version);
  history.replaceState(history.state, "", address);
}

// Returns whether the values of a form differ from those that the page was sent with.
function isTyped(form) {
  const empty = form.cloneNode(true);
  empty.reset();
  return String([...new FormData(form)]) !== String([...new FormData(empty)]);
}

function sayUnsent(form, submitter, text) {
  const note = document.createElement("p");
  note.className = "problem";
  note.id = "unsent";
  note.setAttribute("role", "alert");
  note.textContent = text;
  (submitter?.closest("p") ?? form.lastElementChild).before(note);
  if (!history.state?.isUnsent) history.pushState({ ...history.state, isUnsent: true }, "");  // so that Back stays here
}

function show(page) {
  document.title = page.title;
  for (const sheet of page.querySelectorAll("link[rel=stylesheet]")) {
    if (!document.head.querySelector(`[href="${sheet.getAttribute("href")}"]`)) document.head.append(sheet);
  }
  const focus = page.querySelector("[autofocus]");
  focus?.removeAttribute("autofocus");  // Firefox would set it later, too
  document.body.replaceWith(page.body);
  shown = addressOf(location);
  start();
  (focus ?? document.getElementById("main")).focus();
  if (!focus) scrollTo(0, 0);
}

// After a draft is saved, the focus stays in the field, and the field at its place in the window.
function placeOf(field) {
  const top = field?.getBoundingClientRect().top;
  const hasFocus = field === document.activeElement;
  return () => {
    const again = field && document.getElementById(field.id);
    if (!again || again.value !== field.value) return;
    const item = again.closest("details");
    if (item) item.open = true;
    scrollBy(0, again.getBoundingClientRect().top - top);
    if (!hasFocus) return;
    again.focus({ preventScroll: true });
    again.setSelectionRange?.(field.selectionStart, field.selectionEnd);
    document.getElementById("said").textContent = document.querySelector(".done")?.textContent ?? "";
  };
}

function start() {
  showTimes();
  addCopyButtons();
  takeLink();
  startWriting();
  startImport();
}

document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  event.preventDefault();
  // Enter in a field would preview; with this script, the preview follows anyway.
  if (!event.submitter?.matches(".default")) send(event.target, event.submitter);
});
document.addEventListener("input", ({ target }) => keepVersion(target.form));
for (const type of ["click", "keydown"]) {
  addEventListener(type, (event) => {
    const menu = document.querySelector(".menu[open]");
    if (!menu || (event.key !== "Escape" && (type === "keydown" || menu.contains(event.target)))) return;
    if (menu.contains(document.activeElement)) menu.firstElementChild.focus();
    menu.open = false;
  });
}
addEventListener("hashchange", takeLink);
addEventListener("popstate", () => {
  if (addressOf(location) !== shown) location.reload();  // of the page that was here before it was replaced
});
addEventListener("pageshow", () => {
  isSending = false;
  if (!new URLSearchParams(location.search).has("version") || [...document.forms].some(isTyped)) return;
  document.body.inert = true;
  location.replace(addressOf(location) + location.hash);  // no text was restored, so the form shows the newest version
});
start();
