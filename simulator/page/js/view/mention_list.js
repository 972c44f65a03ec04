/** The list of names offered while a person types an @. */

import { h } from "../dom.js";
import { BOT_NAME, botAvatar, personAvatar, personName } from "../people.js";

/** @typedef {import("../state.js").State} State */

/** @param {State} state @returns {{name: string, sign: () => HTMLElement}[]} */
function candidates(state) {
  const members = state.people.filter((person) => state.chat?.members.includes(person.login) && person !== state.me);
  const named = members.map((person) => ({ name: personName(person, state.language), sign: () => personAvatar(state, person, "avatar-small") }));
  const bot = { name: BOT_NAME, sign: () => botAvatar("avatar-small") };
  return state.chat?.with_bot ? [bot, ...named] : named;
}

/** @param {State} state @param {HTMLTextAreaElement} field */
export function createMentionList(state, field) {
  const node = h("div", { class: "mention-list", role: "listbox", "aria-label": state.t("mention"), hidden: true });
  let at = 0;

  /** @returns {RegExpExecArray | null} the unfinished mention before the caret */
  const unfinished = () => /(?:^|[^\w@])@([\p{L}\p{N}]*)$/u.exec(field.value.slice(0, field.selectionStart));

  /** @param {string} name */
  function choose(name) {
    const typed = unfinished()?.[1] ?? "";
    const start = field.selectionStart - typed.length - 1;
    field.setRangeText(`@${name} `, start, field.selectionStart, "end");
    node.hidden = true;
    field.focus();
    field.dispatchEvent(new Event("input"));
  }

  function mark() {
    [...node.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
  }

  function update() {
    const typed = state.chat?.kind === "direct" ? null : unfinished();
    const found = typed ? candidates(state).filter((each) => each.name.toLowerCase().startsWith(typed[1].toLowerCase())) : [];
    node.hidden = !found.length;
    at = 0;
    node.replaceChildren(...found.map((each) =>
      h("div", {
        role: "option", class: "mention-item", dataset: { name: each.name },
        onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
        onclick: () => choose(each.name),
      }, each.sign(), each.name)));
    mark();
  }

  /** @param {KeyboardEvent} event @returns {boolean} true when the key was meant for the list */
  function key(event) {
    if (node.hidden) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at = (at + step + node.children.length) % node.children.length;
    else if (event.key === "Escape") node.hidden = true;
    else if (event.key === "Enter" || event.key === "Tab") choose(/** @type {HTMLElement} */ (node.children[at]).dataset.name ?? "");
    else return false;
    mark();
    event.preventDefault();
    return true;
  }

  field.addEventListener("blur", () => {
    node.hidden = true;
  });
  return { node, update, key };
}
