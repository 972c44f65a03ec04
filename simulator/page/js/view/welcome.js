/** What to try: example questions for an empty chat, and the follow-up to one that was asked. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { BOT_NAME, botAvatar, isBotChat } from "../people.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../session.js").Session} Session */

/** @param {Session} session @param {string} text */
const ask = (session, text) => session.attempt(() => session.say({ text, mention: false, thread: "", files: [] }));

/** @param {State} state @param {Session} session @returns {HTMLElement} */
export function welcome(state, session) {
  const { t } = state;
  if (!state.chat || !isBotChat(state.chat)) {
    return h("section", { class: "welcome" }, h("p", { class: "welcome-hint" }, t("welcomeGroup")));
  }
  const cards = state.examples[state.language].map((example) =>
    h("button", { type: "button", class: "example", onclick: () => ask(session, example.question) },
      h("small", {}, example.topic), h("span", {}, example.question), icon("arrow")));
  return h("section", { class: "welcome" }, botAvatar("avatar-large"), h("h2", {}, t("welcome", { name: BOT_NAME })),
    h("p", { class: "welcome-hint" }, t("welcomeHint")), h("div", { class: "examples" }, ...cards));
}

/** The follow-up that fits the last question, once it was answered. @param {State} state @returns {string} "" for none */
export function nextQuestion(state) {
  if (!state.chat || !isBotChat(state.chat)) return "";
  const messages = state.messagesOf(state.chat.id);
  const asked = messages.findLast((message) => message.author.login === state.me.login);
  const example = state.examples[state.language].find((each) => each.question === asked?.text);
  const answers = messages.filter((message) => message.author.bot && asked && message.at >= asked.at);
  const done = answers.length > 0 && answers.every((message) => !message.streaming);
  return example && done ? example.follow_up : "";
}

/** @param {State} state @param {Session} session @param {string} text @returns {HTMLElement} */
export const followUp = (state, session, text) =>
  h("div", { class: "follow-up" }, h("span", {}, state.t("tryNext")),
    h("button", { type: "button", class: "suggestion", onclick: () => ask(session, text) }, text, icon("arrow")));
