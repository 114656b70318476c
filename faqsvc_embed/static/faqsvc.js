/* Opens and closes the panels of the disclosure variant. The browser itself finds text in closed panels
   and opens the one that an address points to; this only keeps the buttons in step, and does the same in
   browsers that do not. It changes nothing when it is loaded, and throws at no address. */
(() => {
  const buttonOf = (node) => node.closest(".faqsvc-item")?.querySelector("button.faqsvc-toggle");
  const isOpen = (button) => button.getAttribute("aria-expanded") === "true";

  const set = (button, open) => {
    const panel = button.closest(".faqsvc-item")?.querySelector(".faqsvc-panel");
    if (!panel) return;
    if (open) {
      const group = button.closest(".faqsvc-exclusive");
      for (const other of group?.querySelectorAll('button[aria-expanded="true"]') ?? []) {
        if (other !== button) set(other, false);
      }
      panel.removeAttribute("hidden");
    } else {
      panel.setAttribute("hidden", "until-found");
    }
    button.setAttribute("aria-expanded", String(open));
  };

  const follow = () => {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      /* then it is meant as it stands */
    }
    const target = id ? document.getElementById(id) : null;
    const item = target?.closest(".faqsvc-item");
    const closed = item?.querySelector(".faqsvc-panel[hidden]") ?? item?.matches("details:not([open])");
    if (!closed) return;
    if (item.matches("details")) item.open = true;
    else set(buttonOf(item), true);
    target.scrollIntoView();
  };

  const start = () => {
    for (const panel of document.querySelectorAll(".faqsvc-panel:not([hidden])")) {
      const button = buttonOf(panel);
      if (button) set(button, true);
    }
    follow();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".faqsvc-disclosure button.faqsvc-toggle");
    if (button) set(button, !isOpen(button));
  });
  document.addEventListener("beforematch", (event) => {
    const button = event.target.matches?.(".faqsvc-panel") && buttonOf(event.target);
    if (button) set(button, true);
  });
  addEventListener("hashchange", follow);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
