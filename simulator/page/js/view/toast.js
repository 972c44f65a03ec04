/** Short notices that go away by themselves. */

import { h } from "../dom.js";

/** Milliseconds a notice stays. */
const STAY = 4000;

/** @param {HTMLElement} place @returns {(text: string, kind?: string) => void} */
export function createToasts(place) {
  return (text, kind = "info") => {
    const node = h("div", { class: `toast toast-${kind}` }, text);
    place.appendChild(node);
    setTimeout(() => node.remove(), STAY);
  };
}
