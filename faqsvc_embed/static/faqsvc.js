/* Opens and closes the panels of the disclosure variant. Browsers find text in closed panels and open the
   panel that the fragment of the address names; this script then updates the button. In browsers that do
   neither, it opens the panel itself. Loading it changes nothing on the page, and no fragment is an error. */
(() => {
  const buttonOf = (node) => node.closest(".faqsvc-item")?.querySelector("button.faqsvc-toggle");
  const isOpen = (button) => button.getAttribute("aria-expanded") === "true";

  const setOpen = (button, open) => {
    const panel = button.closest(".faqsvc-item")?.querySelector(".faqsvc-panel");
    if (!panel) return;
    if (open) {
      const group = button.closest(".faqsvc-exclusive");
      for (const other of group?.querySelectorAll('button[aria-expanded="true"]') ?? []) {
        if (other !== button) setOpen(other, false);
      }
      panel.removeAttribute("hidden");
    } else {
      panel.setAttribute("hidden", "until-found");
    }
    button.setAttribute("aria-expanded", String(open));
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
    const closed = item?.querySelector(".faqsvc-panel[hidden]") ?? item?.matches("details:not([open])");
    if (!closed) return;
    if (item.matches("details")) item.open = true;
    else setOpen(buttonOf(item), true);
    target.scrollIntoView();
  };

  const start = () => {
    for (const panel of document.querySelectorAll(".faqsvc-panel:not([hidden])")) {
      const button = buttonOf(panel);
      if (button) setOpen(button, true);
    }
    openTarget();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".faqsvc-disclosure button.faqsvc-toggle");
    if (button) setOpen(button, !isOpen(button));
  });
  document.addEventListener("beforematch", (event) => {
    const button = event.target.matches?.(".faqsvc-panel") && buttonOf(event.target);
    if (button) setOpen(button, true);
  });
  addEventListener("hashchange", openTarget);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
