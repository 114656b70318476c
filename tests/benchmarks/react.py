"""React's `renderToString` of the same component, in a Node process of its own, as one of the contestants.

React is installed once, into a directory of this user's caches.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.sidebyside import Contestant

PACKAGES: Final = ("react@19", "react-dom@19")
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "faqsvc-benchmarks"
NAME: Final = "React: renderToString"

PROGRAM: Final = """
const { createElement: h } = require("react");
const { renderToString } = require("react-dom/server");
const readline = require("readline");

const jsonLd = (faq) => JSON.stringify({
  "@context": "https://schema.org", "@type": "FAQPage",
  mainEntity: faq.items.map((item) => ({
    "@type": "Question", name: item.question, acceptedAnswer: { "@type": "Answer", text: item.answer } })),
}).replace(/[<>&]/g, (c) => "\\\\u00" + c.charCodeAt(0).toString(16));

const Item = ({ item, id }) => h("details", { className: "faqsvc-item" },
  h("summary", { className: "faqsvc-toggle" },
    h("h3", { className: "faqsvc-heading" }, h("span", { className: "faqsvc-question" }, item.question))),
  h("div", { className: "faqsvc-answer", id },
    item.answer.split(/\\n\\n+/).map((text, n) => h("p", { key: n }, text))));

const root = (faq) => ({ className: "faqsvc", id: "faq-" + faq.slug, lang: faq.lang, dir: "ltr" });

const FAQ = ({ faq }) => h("section", root(faq),
  h("h2", { className: "faqsvc-title" }, faq.title),
  faq.items.map((item) => h(Item, { key: item.position, item, id: "faq-" + faq.slug + "-" + item.position })),
  h("script", { type: "application/ld+json", dangerouslySetInnerHTML: { __html: jsonLd(faq) } }));

const faqs = {};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { name, faq, times } = JSON.parse(line);
  if (faq) faqs[name] = faq;
  const shown = faqs[name];
  let length = 0;
  const began = process.cpuUsage();
  for (let n = 0; n < times; n++) length += renderToString(h(FAQ, { faq: shown })).length;
  const { user, system } = process.cpuUsage(began);
  console.log(JSON.stringify({ seconds: (user + system) / 1e6, length }));
});
"""


class Unavailable(Exception):
    """There is no Node, or React cannot be had."""


@contextmanager
def react(records: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Contestant]]:
    """Lend a contestant for each record, which renders it with React.

    Raises:
        Unavailable: why not.
    """
    with subprocess.Popen(
        [_node(), "-e", PROGRAM],
        env={**os.environ, "NODE_ENV": "production", "NODE_PATH": str(_installed())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def ask(**asked: Any) -> float:
            print(json.dumps(asked), file=stdin, flush=True)
            answer = json.loads(stdout.readline())
            assert answer["length"] > 0
            return float(answer["seconds"])

        def contestant(name: str) -> Contestant:
            return lambda times: ask(name=name, times=times)

        try:
            for name, record in records.items():
                ask(name=name, faq=record, times=50)  # which also lets Node compile it
            yield {name: contestant(name) for name in records}
        finally:
            process.terminate()


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise Unavailable("no node on the PATH")
    return node


def _installed() -> Path:
    modules = CACHE / "node_modules"
    if not (modules / "react-dom").is_dir():
        npm = shutil.which("npm")
        if npm is None:
            raise Unavailable("no npm on the PATH to install React with")
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CACHE), *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Unavailable(f"npm does not install React: {(done.stderr or done.stdout).strip()[-200:]}")
    return modules
