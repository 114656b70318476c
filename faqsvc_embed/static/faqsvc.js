/* In an FAQ of twelve questions or more, this script adds a field that filters, a button that opens all answers, and
   links that copy the address of an answer; in the variant `disclosure`, a button for each answer. Without it,
   everything can be read.

   It finds its elements by what they are, and listens on the document only. So it works in parts of a page that are put
   in, restored or changed in place later: what is missing there, it adds again. Browsers find text in closed panels and
   open the answer that the address names; in browsers that do not, this script opens it.

   Names with a dollar are shortened. What is between the marks [disclosure] is left out where no FAQ needs it; on a page
   that then gets the whole script, the other one no longer reacts. */
(() => {
  const $key = Symbol.for("faqsvc"), $before = window[$key];
  if ($before /* [disclosure */ && $before.$whole /* disclosure] */) return $before();
  const $opened = {},
    $all = ($selector, $node = document) => [...$node.querySelectorAll(".faqsvc" + $selector)],
    $one = ($selector, $node) => $all("-" + $selector, $node)[0],
    $shown = ($faq) => $all("-item:not([hidden])", $faq),
    $texts = ($faq) => $faq.dataset.texts.split("|"),
    $hide = ($node, $is) => ($node.hidden = $is && "until-found"),
    $place = ($item) => location.pathname + $one("answer", $item)?.id,
    $isOpen = ($item) =>
      /* [disclosure */ $item.localName != "details" ? !!$one("toggle[aria-expanded=true]", $item) : /* disclosure] */
      $item.open,
    $make = ($tag, $name, $values) =>
      Object.assign(document.createElement($tag), { className: "faqsvc-" + $name, ...$values });

  const $name = ($faq) => {
    const $button = $one("all", $faq), $some = $shown($faq);
    if ($button) $button.textContent = $texts($faq)[$some[0] && $some.every($isOpen) ? 5 : 4];
  };
  const $note = ($item) => {
    const $faq = $item.closest(".faqsvc");
    if (!$faq.dataset.filtered) $opened[$place($item)] = $isOpen($item);
    $name($faq);
  };
  const $open = ($item, $is) => {
    /* [disclosure */
    if ("open" in $item) /* disclosure] */ $item.open = $is;
    /* [disclosure */
    const $panel = $one("panel", $item);
    if (!$panel) return;
    if ($is) for (const $other of $all("-item", $item.closest(".faqsvc-exclusive") ?? $item)) $open($other, false);
    $hide($panel, !$is);
    $one("toggle", $item).setAttribute("aria-expanded", !!$is);
    $note($item);
    /* disclosure] */
  };
  /* [disclosure */
  const $addButton = ($item) => {
    const $heading = $item.firstElementChild, $answer = $one("answer", $item);
    if (!$answer) return;
    const $button = $make("button", "toggle", { type: "button" }), $panel = $make("div", "panel");
    $button.setAttribute("aria-controls", $answer.id);
    $button.append(...$heading.childNodes);
    $heading.append($button);
    $answer.before($panel);
    $panel.append($answer);
    $open($item, $opened[$place($item)]);
  };
  /* disclosure] */

  const $plain = ($text) => $text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toUpperCase().trim();
  const $filter = ($faq) => {
    const $query = $plain($one("filter", $faq).value), $was = $faq.dataset.filtered;
    let $section, $count = 0;
    $faq.dataset.filtered = $query;
    for (const $node of $all("-section,.faqsvc-item", $faq)) {
      if ($node.matches(".faqsvc-section")) $hide(($section = $node), $query);
      else {
        if (!$was) $opened[$place($node)] = $isOpen($node); /* its event may be on its way */
        else if (!$query) $open($node, $opened[$place($node)]);
        const $text = $plain($node.textContent.replace($texts($faq)[2], "")), $fits = $query.split(" ").every(($word) => $text.includes($word));
        $hide($node, !$fits);
        if ($fits && $section) $hide($section);
        $count += $fits;
      }
    }
    $one("found", $faq).textContent = $query && $texts($faq)[1].replace("#", $count);
    $name($faq);
  };
  const $clear = ($faq) => {
    if ($faq?.dataset.filtered) {
      $one("filter", $faq).value = "";
      $filter($faq);
    }
  };
  const $aim = ($event) => {
    $start();
    const $target = document.querySelector(":target"), $item = $target?.closest(".faqsvc-item,.faqsvc-section");
    /* A visitor who comes back to the page keeps the filter. */
    if (!$item || ($item.hidden ? $event?.type == "pageshow" : $target.checkVisibility?.())) return;
    if ($item.hidden) $clear($item.closest(".faqsvc"));
    $open($item, true);
    $target.scrollIntoView();
  };

  const $start = () => {
    /* [disclosure */
    $all("-panels .faqsvc-item:not(:has(.faqsvc-panel))").forEach($addButton);
    /* disclosure] */
    for (const $faq of $all("[data-texts]")) {
      const $first = $one("section,.faqsvc-item", $faq), $field = $one("filter", $faq), $text = $texts($faq);
      for (const $answer of $all("-answer:not(:has(>.faqsvc-anchor))", $faq)) {
        $answer.append($make("a", "anchor", { href: "#" + $answer.id, textContent: $text[2] }));
      }
      if ($field && $plain($field.value) != ($faq.dataset.filtered ?? "")) $filter($faq); /* a browser restores the field after Back */
      if ($field || !$first) continue;
      const $tools = $make("div", "tools");
      $first.before($tools);
      $tools.append(
        $make("input", "filter", { type: "search", size: 9, placeholder: $text[0], ariaLabel: $text[0] }),
        $make("span", "found", { role: "status" }),
        $text[4] ? $make("button", "all", { type: "button", textContent: $text[4] }) : "",
      );
      for (const $item of $all("-item", $faq)) if ($opened[$place($item)]) $open($item, true);
    }
  };

  const $react = ($event) => {
    const $at = ($selector) => $event.target.closest?.($selector), $is = ($type) => $event.type == $type;
    const $faq = $at(".faqsvc"), $item = $at(".faqsvc-item");
    if (window[$key] != $start) return;
    if ($is("click")) {
      /* [disclosure */
      if ($at("button.faqsvc-toggle")) $open($item, !$isOpen($item));
      /* disclosure] */
      if ($at(".faqsvc-all")) {
        const $some = $shown($faq), $are = $some.every($isOpen);
        for (const $item of $some) $open($item, !$are);
      }
      const $link = $at(".faqsvc-anchor");
      if ($link && navigator.clipboard && !$event.ctrlKey && !$event.metaKey) {
        $event.preventDefault();
        navigator.clipboard.writeText($link.href).then(
          () => ($link.textContent = $texts($faq)[3]),
          () => (location.hash = $link.hash),
        );
      } else if ($at("a")?.hash) setTimeout($aim);
    }
    if ($at(".faqsvc-filter")) {
      if ($event.key == "Escape") $clear($faq);
      if ($is("input")) $filter($faq);
    }
    if ($is("toggle") && $item) $note($item);
    if ($is("beforematch")) {
      $clear($faq);
      if ($item) $open($item, true);
    }
  };
  for (const $type of ["click", "input", "keydown", "toggle", "beforematch"]) addEventListener($type, $react, true);
  for (const $type of ["hashchange", "pageshow"]) addEventListener($type, $aim);
  new MutationObserver($start).observe(document, { childList: true, subtree: true });
  /* [disclosure */
  $start.$whole = 1;
  /* disclosure] */
  window[$key] = $start;
  $start();
})();
