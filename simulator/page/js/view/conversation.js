/** The open chat: its header, its messages, the composer. */

import { h, reconcile } from "../dom.js";
import { icon } from "../icons.js";
import { mainPlaces } from "../layout.js";
import { chatAvatar, chatName, isBotChat } from "../people.js";
import { navigate } from "../route.js";
import { createComposer } from "./composer.js";
import { createMessageList } from "./message_list.js";
import { followUp, nextQuestion, welcome } from "./welcome.js";

/** @typedef {import("../state.js").State} State */

/** @param {State} state @param {import("../api.js").Chat} chat */
function about(state, chat) {
  if (isBotChat(chat)) return state.t("botAbout");
  if (chat.kind === "direct") return "";
  const count = state.t("members", { n: chat.members.length });
  return chat.kind === "topic_group" && state.route.platform === "feishu" ? `${state.t("topics")} · ${count}` : count;
}

/** @param {State} state @param {import("../api.js").Chat} chat */
function header(state, chat) {
  const back = state.t("back");
  const slack = state.route.platform === "slack";
  const badge = isBotChat(chat) ? h("span", { class: "badge" }, state.t(slack ? "app" : "bot")) : null;
  const sign = slack && chat.kind !== "direct" ? h("span", { class: "hash" }, icon("hash")) : chatAvatar(state, chat);
  return h("div", { class: "pane-head" },
    h("button", {
      type: "button", class: "icon-button back-button", "aria-label": back, title: back,
      onclick: () => navigate({ chat: "list", thread: "" }),
    }, icon("back")),
    sign,
    h("div", { class: "pane-title" },
      h("div", { class: "pane-name" }, h("h1", {}, chatName(state, chat)), badge),
      h("small", {}, about(state, chat))),
    h("span", { class: "grow" }),
    state.connected ? null : h("span", { class: "offline", role: "status" }, state.t("offline")));
}

/**
 * @param {HTMLElement} place @param {State} state
 * @param {import("../session.js").Session} session
 * @returns {() => void} brings the view up to date
 */
export function createConversation(place, state, session) {
  const top = h("div", { class: "pane-top" });
  const list = createMessageList(state, session);
  const suggestion = h("div", { class: "suggestions" });
  const composer = createComposer(state, session, { thread: false });
  place.append(top, list.node, suggestion, composer.node);

  return () => {
    const { chat } = state;
    place.toggleAttribute("hidden", !chat);
    if (!chat) return;
    const who = [state.route.platform, state.language, state.me];
    reconcile(top, [{ key: "head", deps: [...who, chat, state.connected], build: () => header(state, chat) }]);
    const places = mainPlaces(state);
    const empty = !places.length && state.loaded.has(chat.id) ? welcome(state, session) : null;
    list.update(places, `${state.route.platform}/${state.route.as}/${chat.id}`, empty);
    const next = nextQuestion(state);
    reconcile(suggestion, next ? [{ key: next, deps: who, build: () => followUp(state, session, next) }] : []);
    composer.update();
  };
}
