/** The pane beside the chat that shows one thread. */

import { h, reconcile } from "../dom.js";
import { icon } from "../icons.js";
import { replyStyle, threadPlaces } from "../layout.js";
import { chatName } from "../people.js";
import { navigate } from "../route.js";
import { createComposer } from "./composer.js";
import { createMessageList } from "./message_list.js";

/** @typedef {import("../state.js").State} State */

/** @param {State} state @param {import("../api.js").Chat} chat */
function header(state, chat) {
  const close = state.t("closeThread");
  return h("div", { class: "pane-head" },
    h("div", { class: "pane-title" }, h("div", { class: "pane-name" }, h("h2", {}, state.t("thread"))), h("small", {}, chatName(state, chat))),
    h("span", { class: "grow" }),
    h("button", { type: "button", class: "icon-button", "aria-label": close, title: close, onclick: () => navigate({ thread: "" }) }, icon("close")));
}

/**
 * @param {HTMLElement} place @param {State} state
 * @param {import("../session.js").Session} session
 * @returns {() => void} brings the view up to date
 */
export function createThread(place, state, session) {
  const top = h("div", { class: "pane-top" });
  const list = createMessageList(state, session);
  const composer = createComposer(state, session, { thread: true });
  place.append(top, list.node, composer.node);
  place.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) navigate({ thread: "" });
  });

  return () => {
    const { chat } = state;
    const open = Boolean(chat && state.route.thread && replyStyle(state) === "threads");
    place.toggleAttribute("hidden", !open);
    if (!open || !chat) return;
    place.setAttribute("aria-label", state.t("thread"));
    reconcile(top, [{ key: "head", deps: [state.language, state.me, chat], build: () => header(state, chat) }]);
    list.update(threadPlaces(state), `${state.route.as}/${chat.id}/${state.route.thread}`);
    composer.update();
  };
}
