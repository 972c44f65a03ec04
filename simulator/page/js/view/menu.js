/** A button that opens a list of choices, usable with mouse and keyboard. */

import { h } from "../dom.js";

/**
 * @typedef {object} Choice
 * @property {string} id
 * @property {boolean} checked
 * @property {Node[]} content
 */

/**
 * @param {{label: string, face: Node[], choices: Choice[], choose: (id: string) => void, kind: string}} options
 * @returns {HTMLElement}
 */
export function menu({ label, face, choices, choose, kind }) {
  const list = h("div", { class: "menu-list", role: "menu", "aria-label": label, hidden: true });
  const button = h("button", { type: "button", class: "menu-face", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": label }, ...face);
  const node = h("div", { class: `menu ${kind}` }, button, list);
  const items = choices.map((choice) =>
    h("button", {
      type: "button", role: "menuitemradio", class: "menu-item", "aria-checked": String(choice.checked), tabindex: "-1",
      dataset: { choice: choice.id },
      onclick: () => {
        toggle(false);
        choose(choice.id);
      },
    }, ...choice.content));
  list.append(...items);

  /** @param {boolean} open */
  function toggle(open) {
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
  }

  button.addEventListener("click", () => toggle(list.hidden));
  node.addEventListener("focusout", (event) => {
    if (!node.contains(/** @type {Node | null} */ (event.relatedTarget))) toggle(false);
  });
  node.addEventListener("keydown", (event) => {
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !list.hidden) {
      toggle(false);
      button.focus();
    } else if (step) {
      event.preventDefault();
      if (list.hidden) toggle(true);
      else items[(at + step + items.length) % items.length].focus();
    }
  });
  return node;
}
