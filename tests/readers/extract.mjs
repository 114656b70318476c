// Read pages, as JSON, with four extractors of JavaScript, and print what each finds in which page.

import { readFileSync } from "node:fs";
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { JSDOM } from "jsdom";
import { NodeHtmlMarkdown } from "node-html-markdown";
import TurndownService from "turndown";

const url = "https://heron.example/";
const turndown = new TurndownService().remove(["script", "style"]);

const parse = (html) => new JSDOM(html, { url }).window.document;

const extractors = {
  defuddle: async (html) => (await Defuddle(parse(html), url, { markdown: true })).content,
  "node-html-markdown": (html) => NodeHtmlMarkdown.translate(html),
  readability: (html) => new Readability(parse(html), { charThreshold: 0 }).parse()?.textContent,
  turndown: (html) => turndown.turndown(html),
};

const pages = JSON.parse(readFileSync(0, "utf8"));
const found = {};
for (const [extractor, read] of Object.entries(extractors)) {
  found[extractor] = {};
  for (const [name, html] of Object.entries(pages)) found[extractor][name] = (await read(html)) ?? "";
}
process.stdout.write(JSON.stringify(found));
