/** A scrolling list of messages that stays at its end while the reader is there. */

import { h, reconcile } from "../dom.js";
import { dayName } from "../clock.js";
import { messageRow } from "./message.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../session.js").Session} Session */
/** @typedef {import("../layout.js").Place} Place */

/** Pixels from the end within which new text keeps the list at its end. */
const NEAR = 80;

/** @param {State} state @param {number} at @returns {HTMLElement} */
const separator = (state, at) =>
  h("div", { class: "day", role: "separator" }, h("span", {}, dayName(at, state.language, state.t)));

/** @param {State} state @param {Session} session @param {Place} place @returns {import("../dom.js").Row[]} */
function rowsOf(state, session, place) {
  const { message, grouped, nested, quoted, day } = place;
  const shared = [state.route.platform, state.language, state.me, state.chat?.kind];
  const row = {
    key: message.id,
    deps: [...shared, message, grouped, nested, quoted, state.route.thread === message.id],
    build: () => messageRow(state, session, place),
  };
  const line = { key: `day ${message.id}`, deps: shared, build: () => separator(state, message.at) };
  return day ? [line, row] : [row];
}

/**
 * @param {State} state @param {Session} session
 * @returns {{node: HTMLElement, update: (places: Place[], subject: string, empty?: HTMLElement | null) => void}}
 *   `subject` names what is listed: a new one starts at its end
 */
export function createMessageList(state, session) {
  const inner = h("div", { class: "message-list" });
  const node = h("div", { class: "scroller", role: "log", "aria-live": "polite", tabindex: "0" }, inner);
  let pinned = true;
  let listed = "";
  const toEnd = () => {
    if (pinned) node.scrollTop = node.scrollHeight;
  };
  node.addEventListener("scroll", () => {
    pinned = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;
  }, { passive: true });
  const sizes = new ResizeObserver(toEnd);
  sizes.observe(inner);
  sizes.observe(node);

  return {
    node,
    update(places, subject, empty = null) {
      node.setAttribute("aria-label", state.t("messages"));
      if (subject !== listed) pinned = true;
      listed = subject;
      const rows = places.flatMap((place) => rowsOf(state, session, place));
      if (empty) rows.push({ key: "empty", deps: [subject, state.language], build: () => empty });
      reconcile(inner, rows);
      toEnd();
    },
  };
}
