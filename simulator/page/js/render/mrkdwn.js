/** Slack mrkdwn (*bold*, <url|label>, <@user>) as DOM nodes. */

import { h } from "../dom.js";
import { emoji } from "./emoji.js";
import { mention } from "./inline.js";
import { BARE_URL, link } from "./links.js";
import { scan } from "./scan.js";

/** @typedef {import("./scan.js").Context} Context */
/** @typedef {import("./scan.js").Builder} Builder */

/** @param {string} text undo the only escapes Slack knows */
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

/** @param {string} tag @returns {Builder} */
const wrap = (tag) => (match, context) => h(tag, {}, ...spans(match[1], context));

/** @type {Builder} */
function angled(match, context) {
  const [target, label] = match[1].split(/\|([\s\S]*)/);
  if (target.startsWith("@")) return mention(label || context.nameOf(target.slice(1)) || target.slice(1));
  if (target.startsWith("#")) return h("span", { class: "mention" }, `#${label || context.nameOf(target.slice(1)) || target.slice(1)}`);
  if (target.startsWith("!")) return mention(label || target.slice(1));
  return link(unescape(target), [unescape(label || target)]);
}

/** @type {import("./scan.js").Rule[]} */
const RULES = [
  [/```\n?([\s\S]+?)\n?```/y, (match) => h("pre", { class: "code", tabindex: "0" }, h("code", {}, unescape(match[1])))],
  [/`([^`\n]+)`/y, (match) => h("code", {}, unescape(match[1]))],
  [/<([@#!][\w^.-]+(?:\|[^<>]*)?|(?:https?:\/\/|mailto:)[^<>\s|]+(?:\|[^<>]*)?)>/y, angled],
  [/(?<![\p{L}\p{N}*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\p{L}\p{N}*])/uy, wrap("strong")],
  [/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]*[^\s_])_(?![\p{L}\p{N}_])/uy, wrap("em")],
  [/(?<![\p{L}\p{N}~])~(?=[^\s~])([^~\n]*[^\s~])~(?![\p{L}\p{N}~])/uy, wrap("s")],
  [/(?<![\w:]):([a-z0-9_+-]+):(?![\w:])/y, (match) => emoji(match[1])],
  [BARE_URL, (match) => link(unescape(match[0]), [unescape(match[0])])],
  [/&(?:lt|gt|amp);/y, (match) => unescape(match[0])],
  [/\n/y, () => h("br")],
];

/** @param {string} text @param {Context} context @returns {Node[]} */
const spans = (text, context) => scan(text, RULES, context);

/**
 * @param {string} text
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function mrkdwn(text, context) {
  const parts = text.split(/^(?:&gt;|>) ?(.*)$/m);
  const nodes = parts.map((part, index) =>
    index % 2 ? h("blockquote", {}, ...spans(part, context)) : h("span", {}, ...spans(part.replace(/^\n|\n$/g, ""), context)));
  return h("div", { class: "mrkdwn" }, ...(parts.length > 1 ? nodes.filter((node) => node.textContent) : spans(text, context)));
}
