/** One message with its author, time, content, reactions and thread line. */

import { h } from "../dom.js";
import { clockTime } from "../clock.js";
import { icon } from "../icons.js";
import { authorAvatar, authorName, nameOfId, BOT_NAME, botAvatar } from "../people.js";
import { replyStyle, rootOf } from "../layout.js";
import { navigate } from "../route.js";
import { content } from "../render/content.js";
import { emoji } from "../render/emoji.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../session.js").Session} Session */
/** @typedef {import("../layout.js").Place} Place */
/** @typedef {import("../api.js").Message} Message */

/** @param {State} state @param {Message} message */
function head(state, message) {
  const badge = message.author.bot ? h("span", { class: "badge" }, state.t("app")) : null;
  return h("div", { class: "message-head" },
    h("span", { class: "author" }, authorName(state, message.author)), badge,
    h("time", { class: "time" }, clockTime(message.at, state.language)));
}

/** @param {State} state @param {Message} message */
function reactions(state, message) {
  if (!message.reactions?.length) return null;
  return h("div", { class: "reactions" }, ...message.reactions.map((reaction) => {
    const title = `${reaction.name}: ${reaction.by.join(", ")}`;
    return h("span", { class: "reaction", title }, emoji(reaction.name), h("span", {}, String(reaction.by.length)));
  }));
}

/** @param {State} state @param {Message} message */
function threadLine(state, message) {
  if (!message.replies || replyStyle(state) !== "threads" || state.route.thread === message.id) return null;
  const count = message.replies === 1 ? state.t("oneReply") : state.t("replies", { n: message.replies });
  return h("button", { type: "button", class: "thread-line", onclick: () => navigate({ thread: message.id }) },
    icon("thread"), h("strong", {}, count), h("span", {}, state.t("openThread")));
}

/** What a person can do with a message. @param {State} state @param {Message} message */
function tools(state, message) {
  if (message.deleted || message.kind === "system" || message.kind === "ephemeral") return null;
  if (replyStyle(state) !== "threads" || rootOf(message)) return null;
  const label = state.t("replyTo");
  const act = () => navigate({ thread: message.id });
  return h("div", { class: "message-tools" },
    h("button", { type: "button", class: "icon-button", title: label, "aria-label": label, onclick: act }, icon("thread")));
}

/** @param {State} state @param {Message} quoted */
function quote(state, quoted) {
  const text = quoted.text || quoted.card?.header?.title?.content || "";
  return h("div", { class: "quote" }, state.t("quote", { name: authorName(state, quoted.author), text }));
}

/** The lines under the content: still generating, edited, the assistant's status.
 * @param {State} state @param {Message} message */
function foot(state, message) {
  return [
    message.streaming ? h("div", { class: "generating", role: "status" }, h("i"), h("i"), h("i"), state.t("generating")) : null,
    message.edited && !message.streaming ? h("span", { class: "edited" }, state.t("edited")) : null,
    reactions(state, message),
    threadLine(state, message),
    message.status ? h("div", { class: "assistant-status", role: "status" }, botAvatar("avatar-tiny"), h("span", {}, `${BOT_NAME} ${message.status}`)) : null,
  ];
}

/**
 * @param {State} state @param {Session} session @param {Place} place
 * @returns {HTMLElement}
 */
export function messageRow(state, session, place) {
  const { message, grouped, nested, quoted } = place;
  if (message.kind === "system") return h("div", { class: "system-line" }, message.text);
  const context = { platform: state.route.platform, t: state.t, nameOf: (/** @type {string} */ id) => nameOfId(state, id) };
  const mine = message.author.login === state.me.login;
  const only = message.kind === "ephemeral" || message.visible_to;
  const classes = ["message", mine && "is-mine", grouped && "is-grouped", nested && "is-nested", only && "is-ephemeral"];
  return h("article", {
    class: classes.filter(Boolean).join(" "), "aria-label": authorName(state, message.author),
    "aria-busy": message.streaming ? "true" : null, dataset: { message: message.id, kind: message.kind },
  },
  h("div", { class: "message-side" }, grouped ? h("time", { class: "side-time" }, clockTime(message.at, state.language)) : authorAvatar(state, message.author)),
  h("div", { class: "message-main" },
    only ? h("div", { class: "only-you" }, icon("eye"), state.t("onlyYou")) : null,
    grouped ? null : head(state, message),
    quoted ? quote(state, quoted) : null,
    content(message, context, (action) => session.press(message, action)),
    ...foot(state, message)),
  tools(state, message));
}
