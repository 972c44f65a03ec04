/** Inline Markdown of Feishu cards and Slack markdown blocks as DOM nodes. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { BARE_URL, link } from "./links.js";
import { scan } from "./scan.js";

/** @typedef {import("./scan.js").Context} Context */
/** @typedef {import("./scan.js").Builder} Builder */

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** @param {string} text decode the few entities the platforms know */
function decode(text) {
  return text.replace(/&(#\d{1,7}|amp|lt|gt|quot|apos|nbsp);/g, (whole, name) => {
    if (!name.startsWith("#")) return ENTITIES[name];
    const code = Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** @param {string} name */
export const mention = (name) => h("span", { class: "mention" }, `@${name}`);

/** @param {string} tag @returns {Builder} */
const wrap = (tag) => (match, context) => h(tag, {}, ...inline(match[1], context));

/** @type {Builder} */
function colored(match, context) {
  const color = /color=['"]?([a-z]+)/i.exec(match[1])?.[1] ?? "grey";
  return h("span", { class: `tone tone-${color}` }, ...inline(match[2], context));
}

/** @type {Builder} */
function feishuMention(match, context) {
  const id = match[1];
  return mention(id === "all" ? context.t("everyone") : context.nameOf(id) || id);
}

/** @type {Builder} */
function slackMention(match, context) {
  const name = context.nameOf(match[1]);
  return name ? mention(name) : match[0];
}

/** @type {import("./scan.js").Rule[]} */
const COMMON = [
  [/\\([!-/:-@[-`{-~])/y, (match) => match[1]],
  [/(`+)((?:(?!\1)[\s\S])+?)\1(?!`)/y, (match) => h("code", {}, decode(match[2].trim() || match[2]))],
  [/!\[([^\]\n]*)\]\(([^()\s]*)\)/y, (match) => h("span", { class: "picture-stub" }, icon("picture"), match[1])],
  [
    /\[((?:[^[\]\n\\]|\\.|\[[^\]\n]*\])+)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+"[^"]*")?\s*\)/y,
    (match, context) => link(decode(match[2].replace(/\\([!-/:-@[-`{-~])/g, "$1")), inline(match[1], context)),
  ],
  [/<(https?:\/\/[^<>\s|]+)>/y, (match) => link(decode(match[1]), [decode(match[1])])],
  [/\*\*(?=\S)([\s\S]+?\**)(?<=\S)\*\*(?!\*)/y, wrap("strong")],
  [/~~(?=\S)([\s\S]+?)~~/y, wrap("s")],
  [/\*(?=[^\s*])([^*\n]*[^\s*])\*(?!\*)/y, wrap("em")],
  [/(?<![\p{L}\p{N}])__(?=\S)([^\n]+?)__(?![\p{L}\p{N}])/uy, wrap("strong")],
  [/(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]*[^\s_])_(?![\p{L}\p{N}])/uy, wrap("em")],
  [BARE_URL, (match) => link(decode(match[0]), [decode(match[0])])],
  [/&(?:#\d{1,7}|amp|lt|gt|quot|apos|nbsp);/y, (match) => decode(match[0])],
  [/\n/y, () => h("br")],
];

/** @type {Record<Context["platform"], import("./scan.js").Rule[]>} */
const RULES = {
  feishu: [
    [/<at (?:id|ids)=["']?([\w-]+)["']?\s*>(?:<\/at>)?/y, feishuMention],
    [/<(font[^>]*)>([\s\S]*?)<\/font>/y, colored],
    [/<text_tag color=['"]?(\w+)['"]?>([\s\S]*?)<\/text_tag>/y, (match) => tag(match[2], match[1])],
    [/<br\s*\/?>/y, () => h("br")],
    ...COMMON,
  ],
  slack: [[/<@([UW]\w+)>/y, slackMention], ...COMMON],
};

/** A coloured label as Feishu shows it. @param {string} text @param {string} color */
export const tag = (text, color) => h("span", { class: `tag tone-${color}` }, text);

/**
 * @param {string} text
 * @param {Context} context
 * @returns {Node[]}
 */
export const inline = (text, context) => scan(text, RULES[context.platform], context);
