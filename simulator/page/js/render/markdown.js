/** Block Markdown (paragraphs, lists, tables, code, quotes) as DOM nodes. */

import { h } from "../dom.js";
import { inline } from "./inline.js";

/** @typedef {import("./scan.js").Context} Context */

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([^\s`]*)/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** @param {string[]} lines @param {number} at */
const startsTable = (lines, at) =>
  lines[at].includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") &&
  lines[at + 1].includes("|") && DELIMITERS.test(lines[at + 1]);

/** @param {string[]} lines @param {number} at */
const startsBlock = (lines, at) =>
  [FENCE, HEADING, RULE, ITEM, QUOTE].some((pattern) => pattern.test(lines[at])) || startsTable(lines, at);

/** A reader takes lines from `at` on and gives its node and the first line it left. */
/** @typedef {(lines: string[], at: number, context: Context) => [Node, number]} Reader */

/** @type {Reader} */
function readFence(lines, at) {
  const [, fence, language] = /** @type {RegExpExecArray} */ (FENCE.exec(lines[at]));
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(fence)) end += 1;
  const code = h("code", {}, lines.slice(at + 1, end).join("\n"));
  return [h("pre", { class: "code", "data-language": language || null, tabindex: "0" }, code), end + 1];
}

/** @type {Reader} */
function readHeading(lines, at, context) {
  const [, marks, text] = /** @type {RegExpExecArray} */ (HEADING.exec(lines[at]));
  const node = h("h3", { class: `heading level-${marks.length}` }, ...inline(text, context));
  return [node, at + 1];
}

/** @type {Reader} */
function readQuote(lines, at, context) {
  let end = at;
  const inner = [];
  while (end < lines.length && QUOTE.test(lines[end])) {
    inner.push(/** @type {RegExpExecArray} */ (QUOTE.exec(lines[end]))[1]);
    end += 1;
  }
  return [h("blockquote", {}, ...blocks(inner, context)), end];
}

/** @param {string} line @returns {string[]} */
function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));
}

/** @type {Reader} */
function readTable(lines, at, context) {
  const head = cells(lines[at]);
  const align = cells(lines[at + 1]).map((mark) => (/^:-+:$/.test(mark) ? "center" : /-:$/.test(mark) ? "end" : "start"));
  let end = at + 2;
  const rows = [];
  while (end < lines.length && lines[end].includes("|")) rows.push(cells(lines[end++]));
  const row = (/** @type {string[]} */ values, /** @type {string} */ kind) =>
    h("tr", {}, ...head.map((_, column) =>
      h(kind, { style: { "text-align": align[column] ?? "start" } }, ...inline(values[column] ?? "", context))));
  const table = h("table", {}, h("thead", {}, row(head, "th")), h("tbody", {}, ...rows.map((each) => row(each, "td"))));
  return [h("div", { class: "table-frame", tabindex: "0" }, table), end];
}

/** @param {string} line */
const indentOf = (line) => line.length - line.trimStart().length;

/** @type {Reader} */
function readList(lines, at, context) {
  const [, lead, first] = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const ordered = /\d/.test(first);
  const list = h(ordered ? "ol" : "ul", { start: ordered && parseInt(first, 10) !== 1 ? parseInt(first, 10) : null });
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length !== lead.length || /\d/.test(item[2]) !== ordered) break;
    const inner = [item[3]];
    next += 1;
    while (next < lines.length && belongsToItem(lines, next, lead.length)) {
      inner.push(lines[next].slice(Math.min(indentOf(lines[next]), lead.length + item[2].length + 1)));
      next += 1;
    }
    list.appendChild(listItem(inner, context));
    while (next + 1 < lines.length && !lines[next].trim() && ITEM.test(lines[next + 1])) next += 1;
  }
  return [list, next];
}

/** @param {string[]} lines @param {number} at @param {number} indent */
function belongsToItem(lines, at, indent) {
  if (!lines[at].trim()) return at + 1 < lines.length && indentOf(lines[at + 1]) > indent + 1;
  return indentOf(lines[at]) > indent || !startsBlock(lines, at);
}

/** @param {string[]} inner @param {Context} context */
function listItem(inner, context) {
  const nodes = blocks(inner, context);
  const [first, ...rest] = nodes;
  const tight = first instanceof HTMLParagraphElement ? [...first.childNodes] : [first];
  return h("li", {}, ...tight, ...rest);
}

/** @type {Reader} */
function readParagraph(lines, at, context) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !startsBlock(lines, end)) end += 1;
  return [h("p", {}, ...inline(lines.slice(at, end).join("\n").trim(), context)), end];
}

/** @param {string[]} lines @param {number} at @returns {Reader} */
function readerFor(lines, at) {
  if (FENCE.test(lines[at])) return readFence;
  if (HEADING.test(lines[at])) return readHeading;
  if (RULE.test(lines[at])) return () => [h("hr"), at + 1];
  if (startsTable(lines, at)) return readTable;
  if (ITEM.test(lines[at])) return readList;
  return QUOTE.test(lines[at]) ? readQuote : readParagraph;
}

/** @param {string[]} lines @param {Context} context @returns {Node[]} */
function blocks(lines, context) {
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [node, next] = readerFor(lines, at)(lines, at, context);
    nodes.push(node);
    at = next;
  }
  return nodes;
}

/**
 * @param {string} text
 * @param {Context} context
 * @returns {HTMLElement} one element that holds the rendered blocks
 */
export function markdown(text, context) {
  return h("div", { class: "markdown" }, ...blocks(text.replace(/\r\n?/g, "\n").split("\n"), context));
}
