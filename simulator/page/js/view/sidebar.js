/** The list of chats: a rail and a list in the Feishu look, a channel tree in the Slack look. */

import { h, reconcile } from "../dom.js";
import { clockTime } from "../clock.js";
import { icon } from "../icons.js";
import { authorName, chatAvatar, chatName, isBotChat, personAvatar } from "../people.js";
import { navigate } from "../route.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../api.js").Chat} Chat */

/** @param {State} state @param {Chat} chat */
function unreadMark(state, chat) {
  if (!chat.unread) return null;
  const count = chat.unread > 99 ? "99+" : String(chat.unread);
  return h("span", { class: "unread", "aria-label": state.t("unread", { n: chat.unread }) }, count);
}

/** A message in one line, without marks. @param {State} state @param {import("../api.js").Message} message */
function plainLine(state, message) {
  if (message.streaming) return state.t("generating");
  const text = message.card ? message.text.replace(/<\/?(font|at|text_tag)\b[^>]*>/g, "") : message.text;
  return text.replace(/[*`#~]+/g, "");
}

/** @param {State} state @param {Chat} chat */
function preview(state, chat) {
  const last = state.messagesOf(chat.id).at(-1);
  const text = last ? plainLine(state, last) : "";
  if (last && text) return isBotChat(chat) ? text : `${authorName(state, last.author)}: ${text}`;
  if (isBotChat(chat)) return state.t("botAbout");
  const names = chat.members.map((login) => authorName(state, { login, name: login }));
  return chat.kind === "direct" ? "" : names.join(state.language === "zh" ? "、" : ", ");
}

/** @param {State} state @param {Chat} chat */
function feishuChat(state, chat) {
  const last = state.messagesOf(chat.id).at(-1);
  const badge = isBotChat(chat) ? h("span", { class: "badge" }, state.t("bot")) : null;
  return [
    h("span", { class: "chat-avatar" }, chatAvatar(state, chat), unreadMark(state, chat)),
    h("span", { class: "chat-lines" },
      h("span", { class: "chat-line" }, h("span", { class: "chat-name" }, chatName(state, chat)), badge,
        last ? h("time", { class: "chat-time" }, clockTime(last.at, state.language)) : null),
      h("span", { class: "chat-preview" }, preview(state, chat))),
  ];
}

/** @param {State} state @param {Chat} chat */
function slackChat(state, chat) {
  const sign = chat.kind === "direct" ? chatAvatar(state, chat) : icon("hash");
  return [sign, h("span", { class: "chat-name" }, chatName(state, chat)), unreadMark(state, chat)];
}

/** @param {State} state @param {Chat} chat */
function chatRow(state, chat) {
  const open = chat.id === state.route.chat;
  const inside = state.route.platform === "feishu" ? feishuChat(state, chat) : slackChat(state, chat);
  return h("button", {
    type: "button", class: `chat-row${chat.unread ? " is-unread" : ""}`, "aria-current": open ? "page" : null,
    dataset: { chat: chat.id },
    onclick: () => navigate({ chat: chat.id, thread: "" }),
  }, ...inside);
}

/** @param {State} state */
function rail(state) {
  const item = (/** @type {any} */ sign, /** @type {any} */ key, active = false) =>
    h("span", { class: `rail-item${active ? " is-active" : ""}` }, icon(sign), h("small", {}, state.t(key)));
  return h("div", { class: "rail", "aria-hidden": "true" }, personAvatar(state, state.me),
    item("chat", "messages", true), item("calendar", "calendar"), item("doc", "docs"), item("people", "contacts"));
}

/** @param {State} state */
function heading(state) {
  return h("div", { class: "side-heading" }, h("strong", {}, state.t("organisation")),
    h("span", { class: "side-search", "aria-hidden": "true" }, icon("search"), state.t("search")));
}

/** @param {State} state @param {Chat} chat @returns {import("../dom.js").Row} */
function row(state, chat) {
  const messages = state.messagesOf(chat.id);
  return {
    key: chat.id,
    deps: [state.route.platform, state.language, chat.id === state.route.chat, chat.unread, messages.at(-1)],
    build: () => chatRow(state, chat),
  };
}

/** @param {State} state @param {"apps" | "channels" | "direct"} key @param {Chat[]} chats @returns {import("../dom.js").Row[]} */
function section(state, key, chats) {
  if (!chats.length) return [];
  const title = { key, deps: [state.language], build: () => h("div", { class: "side-section" }, state.t(key)) };
  return [title, ...chats.map((chat) => row(state, chat))];
}

/** @param {State} state @returns {import("../dom.js").Row[]} */
function slackRows(state) {
  const bot = state.chats.filter(isBotChat);
  const people = state.chats.filter((chat) => chat.kind === "direct" && !isBotChat(chat));
  const channels = state.chats.filter((chat) => chat.kind !== "direct");
  return [...section(state, "apps", bot), ...section(state, "channels", channels), ...section(state, "direct", people)];
}

/** @param {HTMLElement} place @param {State} state */
export function renderSidebar(place, state) {
  if (!state.me) return;
  const { as } = state.route;
  place.setAttribute("aria-label", state.t("sources"));
  if (!place.querySelector(".chat-list")) place.append(h("div", { class: "side-head" }), h("div", { class: "chat-list" }));
  reconcile(/** @type {HTMLElement} */ (place.querySelector(".side-head")), [
    { key: "rail", deps: [as, state.people], build: () => rail(state) },
    { key: "heading", deps: [as, state.people], build: () => heading(state) },
  ]);
  const rows = state.route.platform === "slack" ? slackRows(state) : state.chats.map((chat) => row(state, chat));
  reconcile(/** @type {HTMLElement} */ (place.querySelector(".chat-list")), rows);
}
