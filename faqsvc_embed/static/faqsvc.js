/* In an FAQ of twelve questions or more, this script adds a field that filters, a button that opens all answers, and
   links to copy; in the variant `disclosure`, a button for each answer. Without it, everything can be read.

   It finds its elements by what they are, and listens on the document only. So it works in parts of a page that are put
   in, restored or changed in place later: what is missing there, it adds again. Browsers find text in closed panels and
   open the answer that the address names; in browsers that do not, this script opens it.

   Names with a dollar are shortened. What is between the marks [disclosure] is left out where no FAQ needs it; a page
   that then gets the whole script stops the other one. */
(() => {
  const $key = Symbol.for("faqsvc"), $before = window[$key], $ends = new AbortController();
  if ($before /* [disclosure */ && $before.$whole /* disclosure] */) return $before();
  /* [disclosure */
  $before?.$stop();
  /* disclosure] */
  const $hidden = "onbeforematch" in document.body ? "until-found" : "";
  const $opened = new Set();
  const $all = ($selector, $node = document) => [...$node.querySelectorAll($selector)];
  const $one = ($selector, $node) => $node.querySelector(".faqsvc-" + $selector);
  const $items = ($node) => $all(".faqsvc-item", $node);
  const $root = ($node) => $node.closest(".faqsvc");
  const $texts = ($faq) => $faq.dataset.texts.split("|");
  const $hide = ($node, $is) => ($is ? $node.setAttribute("hidden", $hidden) : $node.removeAttribute("hidden"));
  const $place = ($item) => location.pathname + $one("answer", $item)?.id;
  const $isOpen = ($item) => $item.open ?? !!$one("toggle[aria-expanded=true]", $item);
  const $make = ($tag, $name, $text, $attributes = {}) => {
    const $element = document.createElement($tag);
    $element.className = "faqsvc-" + $name;
    $element.textContent = $text;
    for (const $key in $attributes) $element.setAttribute($key, $attributes[$key]);
    return $element;
  };

  const $note = ($item) => {
    $opened[$isOpen($item) ? "add" : "delete"]($place($item));
    const $faq = $root($item), $button = $one("all", $faq);
    if ($button) $button.textContent = $texts($faq)[+$items($faq).every($isOpen)];
  };
  const $open = ($item, $is) => {
    if ("open" in $item) $item.open = $is;
    /* [disclosure */
    const $panel = $one("panel", $item);
    if (!$panel) return;
    if ($is) for (const $other of $items($item.closest(".faqsvc-exclusive") ?? $item)) $open($other, false);
    $hide($panel, !$is);
    $one("toggle", $item).setAttribute("aria-expanded", $is);
    $note($item);
    /* disclosure] */
  };
  /* [disclosure */
  const $addButton = ($item) => {
    const $heading = $item.firstElementChild, $answer = $one("answer", $item);
    if (!$answer) return;
    const $button = $make("button", "toggle", "", { type: "button", "aria-controls": $answer.id });
    const $panel = $make("div", "panel", "");
    $button.append(...$heading.childNodes);
    $heading.append($button);
    $answer.before($panel);
    $panel.append($answer);
    $open($item, $opened.has($place($item)));
  };
  /* disclosure] */
  const $addLinks = ($faq) => {
    for (const $answer of $all(".faqsvc-answer:not(:has(> .faqsvc-anchor))", $faq)) {
      $answer.append($make("a", "anchor", $texts($faq)[2], { href: "#" + $answer.id, "aria-live": "polite" }));
    }
  };
  const $addTools = ($faq) => {
    const $first = $faq.querySelector(".faqsvc-section,.faqsvc-item"), $label = $texts($faq);
    if (!$first || $one("filter", $faq)) return;
    const $tools = $make("div", "tools", "");
    $first.before($tools);
    $tools.append(
      $make("input", "filter", "", { type: "search", placeholder: $label[4], "aria-label": $label[4] }),
      $make("span", "found", "", { role: "status" }),
    );
    if (!$faq.matches(".faqsvc-open,.faqsvc-exclusive") && !$faq.querySelector("details[name]")) {
      $tools.append($make("button", "all", $label[0], { type: "button" }));
    }
    for (const $item of $items($faq)) if ($opened.has($place($item))) $open($item, true);
    if (document.readyState != "loading") $addLinks($faq);
  };

  const $plain = ($text) => $text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const $filter = ($faq) => {
    const $words = $plain($one("filter", $faq).value).match(/\S+/g) ?? [];
    const $is = !!$words[0], $was = $faq.hasAttribute("data-filtered");
    let $section, $count = 0;
    for (const $node of $all(".faqsvc-section,.faqsvc-item", $faq)) {
      if ($node.matches(".faqsvc-section")) {
        $hide(($section = $node), $is);
        continue;
      }
      if ($is && !$was) $node.toggleAttribute("data-was-open", $isOpen($node));
      if ($was && !$is) $open($node, $node.hasAttribute("data-was-open"));
      const $text = $plain([...$one("answer", $node).childNodes, $one("question", $node)]
        .map(($part) => ($part.className == "faqsvc-anchor" ? "" : $part.textContent))
        .join(" "));
      const $fits = $words.every(($word) => $text.includes($word));
      $hide($node, !$fits);
      if ($fits && $section) $hide($section);
      $count += $fits;
    }
    $faq.toggleAttribute("data-filtered", $is);
    $one("found", $faq).textContent = $is ? $texts($faq)[5].replace("#", $count) : "";
  };
  const $clear = ($faq) => {
    $one("filter", $faq).value = "";
    $filter($faq);
  };

  const $aim = () => {
    let $id = location.hash.slice(1);
    try {
      $id = decodeURIComponent($id);
    } catch {
      /* not percent-encoded: use it as it is */
    }
    const $target = document.getElementById($id), $item = $target?.closest(".faqsvc-item");
    const $isHidden = $target?.closest(".faqsvc-section[hidden],.faqsvc-item[hidden]");
    if ($isHidden) $clear($root($target));
    if ($item && !$isOpen($item)) $open($item, true);
    else if (!$isHidden) return;
    $target.scrollIntoView();
  };
  const $copy = async ($link) => {
    const $label = $texts($root($link));
    try {
      await navigator.clipboard.writeText($link.href);
      $link.textContent = $label[3];
      setTimeout(() => ($link.textContent = $label[2]), 3000);
    } catch {
      location.hash = $link.hash;
    }
  };

  const $start = () => {
    /* [disclosure */
    $all(".faqsvc-panels .faqsvc-item:not(:has(.faqsvc-panel))").forEach($addButton);
    /* disclosure] */
    for (const $faq of $all(".faqsvc[data-texts]")) {
      $addTools($faq);
      if ($faq.matches("[data-filtered]") && !$one("filter", $faq).value) $filter($faq);
    }
  };

  const $on = ($kinds, $act, $node = document) => {
    for (const $kind of $kinds.split(" ")) $node.addEventListener($kind, $act, { capture: true, signal: $ends.signal });
  };
  $on("click", ($event) => {
    const $at = ($selector) => $event.target.closest?.($selector);
    const $button = $at(".faqsvc-all"), $link = $at(".faqsvc-anchor");
    /* [disclosure */
    const $item = $at("button.faqsvc-toggle")?.closest(".faqsvc-item");
    if ($item) $open($item, !$isOpen($item));
    /* disclosure] */
    if ($button) {
      const $some = $items($root($button)).filter(($item) => !$item.hidden), $is = !$some.every($isOpen);
      for (const $item of $some) $open($item, $is);
    }
    if ($link && navigator.clipboard && !$event.ctrlKey && !$event.metaKey && !$event.shiftKey) {
      $event.preventDefault();
      $copy($link);
    } else if ($at("a")?.hash) setTimeout($aim);
  });
  $on("input keydown", ($event) => {
    if (!$event.target.matches?.(".faqsvc-filter")) return;
    if ($event.key == "Escape") $clear($root($event.target));
    else if ($event.type == "input") $filter($root($event.target));
  });
  $on("toggle beforematch", ($event) => {
    const $item = $event.target.closest?.(".faqsvc-item,.faqsvc-section");
    if (!$item) return;
    if ($event.type == "toggle") $note($item);
    /* [disclosure */
    else if ($event.target.matches(".faqsvc-panel")) $open($item, true);
    /* disclosure] */
    else $clear($root($item));
  });
  $on("hashchange", $aim, window);
  $on("DOMContentLoaded", () => {
    $start();
    $all(".faqsvc[data-texts]").forEach($addLinks);
    $aim();
  });
  const $observer = new MutationObserver($start);
  $observer.observe(document, { childList: true, subtree: true });
  /* [disclosure */
  $start.$whole = 1;
  /* disclosure] */
  $start.$stop = () => {
    $ends.abort();
    $observer.disconnect();
  };
  window[$key] = $start;
  $start();
  $aim();
})();
