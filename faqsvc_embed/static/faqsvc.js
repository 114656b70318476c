/* In the variant `disclosure`, this script adds a button for each answer; in a tall FAQ, an index, a button that
   opens all answers, and links to copy. Without it, everything can be read. Browsers find text in closed panels
   and open the panel that the fragment of the address names; this script then updates the button. In browsers
   that do neither, it opens the panel itself. */
(() => {
  const hidden = "onbeforematch" in document.documentElement ? "until-found" : "";
  const loaded = Symbol.for("faqsvc");
  /* A part of a page that is loaded later may contain the script again. */
  if (window[loaded]) return window[loaded]();

  const make = (tag, name, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  const buttonOf = (item) => item.querySelector("button.faqsvc-toggle");
  const isOpen = (item) => item.open ?? buttonOf(item)?.getAttribute("aria-expanded") !== "false";

  const setOpen = (item, open) => {
    const panel = item.querySelector(".faqsvc-panel");
    if (!panel) {
      if (item.matches("details")) item.open = open;
      return;
    }
    if (open) {
      for (const other of item.closest(".faqsvc-exclusive")?.querySelectorAll(".faqsvc-item") ?? []) {
        if (other !== item) setOpen(other, false);
      }
      panel.removeAttribute("hidden");
    } else {
      panel.setAttribute("hidden", hidden);
    }
    buttonOf(item).setAttribute("aria-expanded", open);
  };

  const addButton = (item) => {
    const heading = item.querySelector(":scope > .faqsvc-heading");
    const answer = item.querySelector(":scope > .faqsvc-answer");
    if (!heading || !answer) return;
    const button = make("button", "faqsvc-toggle", "", { type: "button", "aria-controls": answer.id });
    const panel = make("div", "faqsvc-panel", "");
    button.append(...heading.childNodes);
    heading.append(button);
    answer.before(panel);
    panel.append(answer);
    setOpen(item, false);
  };

  const addLink = (item, texts) => {
    const answer = item.querySelector(".faqsvc-answer");
    const link = make("a", "faqsvc-anchor", texts.copyLink, { href: `#${answer.id}`, "aria-live": "polite" });
    link.addEventListener("click", async (event) => {
      if (!navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      try {
        await navigator.clipboard.writeText(link.href);
      } catch {
        location.hash = answer.id;
        return;
      }
      link.textContent = texts.copied;
      setTimeout(() => (link.textContent = texts.copyLink), 3000);
    });
    answer.append(link);
  };

  const addTools = (faq) => {
    const items = [...faq.querySelectorAll(".faqsvc-item")];
    if (!items[0]) return;
    const texts = faq.dataset;
    const tools = make("div", "faqsvc-tools", "");
    let targets = [...faq.querySelectorAll(".faqsvc-section")];
    if (!targets[1]) targets = faq.matches(".faqsvc-open") ? items : [];
    if (targets[1]) {
      const list = make("ul", "faqsvc-index", "");
      for (const target of targets) {
        const { id } = target.querySelector(".faqsvc-answer") ?? target;
        const entry = make("li", "", "");
        entry.append(
          make("a", "", (target.querySelector(".faqsvc-question") ?? target).textContent, { href: `#${id}` }),
        );
        list.append(entry);
      }
      const index = make("nav", "", "", { "aria-label": texts.contents });
      index.append(list);
      tools.append(index);
    }
    if (!faq.matches(".faqsvc-open, .faqsvc-exclusive") && !faq.querySelector("details[name]")) {
      const button = make("button", "faqsvc-all", texts.openAll, { type: "button" });
      const update = () => {
        button.textContent = items.every(isOpen) ? texts.closeAll : texts.openAll;
      };
      button.addEventListener("click", () => {
        const open = !items.every(isOpen);
        for (const item of items) setOpen(item, open);
        update();
      });
      for (const kind of ["click", "toggle", "beforematch"]) {
        faq.addEventListener(kind, () => setTimeout(update), true);
      }
      tools.append(button);
    }
    if (tools.hasChildNodes()) faq.querySelector(".faqsvc-section, .faqsvc-item").before(tools);
    for (const item of items) addLink(item, texts);
  };

  const openTarget = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      /* not percent-encoded: use it as it is */
    }
    const target = id ? document.getElementById(id) : null;
    const item = target?.closest(".faqsvc-item");
    if (!item || isOpen(item)) return;
    setOpen(item, true);
    target.scrollIntoView();
  };

  const start = () => {
    for (const faq of document.querySelectorAll(".faqsvc:not(.faqsvc-ready)")) {
      faq.classList.add("faqsvc-ready");
      if (faq.matches(".faqsvc-disclosure")) faq.querySelectorAll(".faqsvc-item").forEach(addButton);
      if (faq.dataset.openAll) addTools(faq);
    }
    openTarget();
  };
  window[loaded] = start;

  document.addEventListener("click", (event) => {
    const item = event.target.closest?.("button.faqsvc-toggle")?.closest(".faqsvc-item");
    if (item) setOpen(item, !isOpen(item));
  });
  document.addEventListener("beforematch", (event) => {
    const item = event.target.matches?.(".faqsvc-panel") && event.target.closest(".faqsvc-item");
    if (item) setOpen(item, true);
  });
  addEventListener("hashchange", openTarget);
  start();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
})();
