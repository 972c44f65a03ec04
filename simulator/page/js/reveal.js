/** Lets streamed text grow smoothly: what arrives in frames is shown letter by letter. */

import { h } from "./dom.js";

/**
 * @typedef {object} Progress
 * @property {string} text the whole visible text at the last frame
 * @property {number} shown how many of its characters are on the screen
 * @property {boolean} streaming whether more may come
 */

/** @type {Map<string, Progress>} progress by message and element */
const progress = new Map();
let ticking = false;

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {Element} node @returns {Text[]} */
function textNodes(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) found.push(/** @type {Text} */ (walker.currentNode));
  return found;
}

/** @type {WeakMap<Text, string>} what a shortened text node holds in full */
const whole = new WeakMap();

/** @param {Text} node */
const fullText = (node) => whole.get(node) ?? node.data;

/** Show the first characters of a rendered element and put the cursor behind them.
 * @param {Element} element @param {number} shown @param {boolean} cursorWanted */
function cut(element, shown, cursorWanted) {
  element.querySelector(".cursor")?.remove();
  element.querySelectorAll("[data-unseen]").forEach((node) => node.removeAttribute("data-unseen"));
  let left = shown;
  let last = null;
  for (const node of textNodes(element)) {
    const text = fullText(node);
    const visible = text.slice(0, Math.max(0, left));
    if (visible !== node.data) {
      whole.set(node, text);
      node.data = visible;
    }
    if (visible) last = node;
    left -= text.length;
  }
  for (const node of element.querySelectorAll("p, li, tr, pre, ul, ol, table, blockquote, h3, hr")) {
    if (!node.textContent) node.setAttribute("data-unseen", "");
  }
  if (!cursorWanted) return;
  const cursor = h("span", { class: "cursor", "aria-hidden": "true" });
  if (last) last.parentNode?.insertBefore(cursor, last.nextSibling);
  else element.prepend(cursor);
}

function tick() {
  ticking = false;
  for (const element of document.querySelectorAll("[data-reveal]")) {
    const key = /** @type {HTMLElement} */ (element).dataset.reveal ?? "";
    const state = progress.get(key);
    if (!state || state.shown >= state.text.length) continue;
    state.shown += Math.max(1, Math.ceil((state.text.length - state.shown) / 12));
    const done = !state.streaming && state.shown >= state.text.length;
    cut(element, state.shown, !done);
    if (done) progress.delete(key);
    else schedule();
  }
}

function schedule() {
  if (ticking) return;
  ticking = true;
  requestAnimationFrame(tick);
}

/**
 * Prepare a freshly rendered element whose text is or was just being streamed. Text that does not
 * continue what was on the screen is replaced at once, as the platforms do; an element that never
 * streamed is left as it is.
 * @param {HTMLElement} element
 * @param {string} key the same for each frame of one element
 * @param {boolean} streaming whether more may come
 */
export function reveal(element, key, streaming) {
  const before = progress.get(key);
  if (!before && !streaming) return;
  const text = element.textContent ?? "";
  const continues = text.startsWith(before?.text.slice(0, before.shown) ?? "");
  const shown = still.matches || !continues ? text.length : (before?.shown ?? 0);
  if (!streaming && shown >= text.length) {
    progress.delete(key);
    return;
  }
  progress.set(key, { text, shown, streaming });
  element.dataset.reveal = key;
  cut(element, shown, true);
  schedule();
}
