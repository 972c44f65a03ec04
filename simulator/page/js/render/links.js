/** Which addresses become links, and how. */

import { h } from "../dom.js";

const SAFE = /^(https?:\/\/|mailto:)/i;

/**
 * A link, or its label as plain text when the address is not one that a platform would open.
 * @param {string} address
 * @param {import("../dom.js").Child[]} label
 * @returns {Node}
 */
export function link(address, label) {
  if (!SAFE.test(address)) return h("span", {}, ...label);
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...label);
}

/** A bare web address inside running text, without the punctuation behind it. */
export const BARE_URL = /https?:\/\/[^\s<>"'`）】」，。；：、！？]*[^\s<>"'`.,;:!?)\]}*_~（）【】「」，。；：、！？]/y;
