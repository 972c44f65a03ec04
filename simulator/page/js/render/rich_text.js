/** Slack rich_text blocks, the form in which people's own messages arrive, as DOM nodes. */

import { h } from "../dom.js";
import { emoji } from "./emoji.js";
import { mention } from "./inline.js";
import { link } from "./links.js";

/** @typedef {import("./scan.js").Context} Context */

const STYLES = { bold: "strong", italic: "em", strike: "s", code: "code" };

/** @param {any} element @param {Context} context @returns {Node} */
function leaf(element, context) {
  switch (element.type) {
    case "user": return mention(context.nameOf(element.user_id) || element.user_id);
    case "broadcast": return mention(element.range);
    case "emoji": return emoji(element.name);
    case "link": return link(element.url, [element.text || element.url]);
    default: return styled(String(element.text ?? ""), element.style ?? {});
  }
}

/** @param {string} text @param {Record<string, boolean>} style @returns {Node} */
function styled(text, style) {
  return Object.entries(STYLES).reduce(
    (node, [name, tag]) => (style[name] ? h(tag, {}, node) : node),
    /** @type {Node} */ (document.createTextNode(text)));
}

/** @param {any} section @param {Context} context @returns {Node} */
function part(section, context) {
  const leaves = () => (section.elements ?? []).map((/** @type {any} */ element) => leaf(element, context));
  if (section.type === "rich_text_list") {
    const items = (section.elements ?? []).map((/** @type {any} */ item) => h("li", {}, part(item, context)));
    return h(section.style === "ordered" ? "ol" : "ul", {}, ...items);
  }
  if (section.type === "rich_text_preformatted") return h("pre", { class: "code", tabindex: "0" }, h("code", {}, ...leaves()));
  if (section.type === "rich_text_quote") return h("blockquote", {}, ...leaves());
  return h("span", { class: "plain" }, ...leaves());
}

/** @param {any} block @param {Context} context @returns {HTMLElement} */
export const richText = (block, context) =>
  h("div", { class: "mrkdwn" }, ...(block.elements ?? []).map((/** @type {any} */ each) => part(each, context)));
