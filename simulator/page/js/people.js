/** Names and avatars of people and of the bot. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

/** @typedef {import("./api.js").Person} Person */
/** @typedef {import("./api.js").Chat} Chat */
/** @typedef {import("./state.js").State} State */

export const BOT_NAME = "Plumbline";

/** @param {Person} person @param {"zh" | "en"} language */
export const personName = (person, language) => (language === "zh" ? person.name_zh : person.name) || person.name;

/** @param {Person} person @param {"zh" | "en"} language */
export const personTitle = (person, language) => (language === "zh" ? person.title_zh : person.title) || person.title;

/** @param {Chat} chat */
export const isBotChat = (chat) => chat.kind === "direct" && chat.with_bot;

/** The other person of a direct chat between two people. @param {State} state @param {Chat} chat */
const partner = (state, chat) =>
  chat.kind === "direct" && !isBotChat(chat)
    ? state.people.find((person) => person.login !== state.me.login && chat.members.includes(person.login))
    : undefined;

/** @param {State} state @param {Chat} chat */
export function chatName(state, chat) {
  const other = partner(state, chat);
  if (other) return personName(other, state.language);
  return (state.language === "zh" ? chat.name_zh : chat.name) || chat.name;
}

/** @param {State} state @param {{login?: string, bot?: boolean, name: string}} author */
export function authorName(state, author) {
  const person = state.people.find((each) => each.login === author.login);
  return person ? personName(person, state.language) : author.name;
}

/**
 * The name behind a platform id in a mention, "" when nobody is known by it.
 * @param {State} state @param {string} id
 */
export function nameOfId(state, id) {
  if (id === state.config.feishu?.bot_open_id || id === state.config.slack?.bot_user) return BOT_NAME;
  const person = state.people.find((each) => each.feishu === id || each.slack === id || each.login === id);
  return person ? personName(person, state.language) : "";
}

/** Two characters for a round picture: 陈伟 for a Chinese name, AL for a Latin one. @param {string} name */
function initials(name) {
  if (name.includes("·")) return [...name].slice(0, 2).join("");
  if (/\p{Script=Han}/u.test(name)) return [...name.replace(/\s/g, "")].slice(-2).join("");
  const words = name.split(/\s+/).filter(Boolean);
  return words.slice(0, 2).map((word) => [...word][0].toUpperCase()).join("");
}

/** @param {string} letters @param {string} color @param {string} [kind] */
const lettered = (letters, color, kind = "") =>
  h("span", { class: `avatar ${kind}`.trim(), style: { "--avatar": color }, "aria-hidden": "true" }, letters);

/** @param {string} [kind] */
export const botAvatar = (kind = "") =>
  h("span", { class: `avatar avatar-bot ${kind}`.trim(), "aria-hidden": "true" }, icon("plumb"));

/** @param {State} state @param {Person} person @param {string} [kind] */
export const personAvatar = (state, person, kind = "") =>
  lettered(initials(personName(person, state.language)), person.avatar_color, kind);

/** @param {State} state @param {import("./api.js").Message["author"]} author */
export function authorAvatar(state, author) {
  const person = state.people.find((each) => each.login === author.login);
  if (person) return personAvatar(state, person);
  return author.bot ? botAvatar() : lettered(initials(author.name || "?"), "#8a919f");
}

/** What a group is recognised by: its first two Han characters or its first letter. @param {string} name */
const groupLetters = (name) => /^\p{Script=Han}{2}/u.exec(name)?.[0] ?? [...name][0].toUpperCase();

const GROUP_COLORS = ["#4c6fff", "#0f9d8a", "#d9822b", "#8a5cf5", "#d1478c", "#3c8dbc", "#5b8c3a", "#b65a3c"];

/** @param {State} state @param {Chat} chat */
export function chatAvatar(state, chat) {
  if (isBotChat(chat)) return botAvatar();
  const other = partner(state, chat);
  if (other) return personAvatar(state, other);
  const sum = [...chat.id].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return lettered(groupLetters(chatName(state, chat)), GROUP_COLORS[sum % GROUP_COLORS.length], "avatar-group");
}
