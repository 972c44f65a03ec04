/** Which messages stand where: flat, with inline replies, or with threads of their own. */

import { isBotChat } from "./people.js";
import { dayKey } from "./clock.js";

/** @typedef {import("./api.js").Message} Message */
/** @typedef {import("./state.js").State} State */

/**
 * @typedef {object} Place
 * @property {Message} message
 * @property {boolean} grouped continues the message above it
 * @property {boolean} nested a reply shown under its root
 * @property {Message | undefined} quoted what a flat reply answers
 * @property {boolean} day opens a new day
 */

/** Seconds within which messages of one author stand together. */
const TOGETHER = 300;

/** @param {Message} message */
export const rootOf = (message) => (message.thread && message.thread !== message.id ? message.thread : "");

/**
 * How a chat shows replies: groups have threads (Feishu calls them topics), a Feishu direct chat
 * is one flow, and in Slack's direct chat with the bot a thread is shown in place, so that a
 * streamed answer is seen at once.
 * @param {State} state @returns {"flat" | "inline" | "threads"}
 */
export function replyStyle(state) {
  const chat = state.chat;
  if (!chat) return "flat";
  if (state.route.platform === "feishu") return chat.kind === "direct" ? "flat" : "threads";
  return isBotChat(chat) ? "inline" : "threads";
}

/** @param {Message[]} messages @returns {Message[]} each root followed by its replies */
function underRoots(messages) {
  const known = new Set(messages.map((message) => message.id));
  const roots = messages.filter((message) => !known.has(rootOf(message)));
  return roots.flatMap((root) => [root, ...messages.filter((message) => rootOf(message) === root.id)]);
}

/** @param {Message} a @param {Message} b */
const sameAuthor = (a, b) => a.author.login === b.author.login && a.author.name === b.author.name;

/** @param {Message | undefined} above @param {Message} message */
const continues = (above, message) =>
  Boolean(above) && above.kind === message.kind && message.kind !== "system" && !above.deleted && !above.replies &&
  sameAuthor(above, message) && message.at - above.at < TOGETHER && rootOf(above) === rootOf(message);

/** @param {Message[]} ordered @param {"flat" | "inline" | "threads"} style @returns {Place[]} */
function places(ordered, style) {
  const byId = new Map(ordered.map((message) => [message.id, message]));
  return ordered.map((message, index) => {
    const above = ordered[index - 1];
    const nested = style === "inline" && Boolean(rootOf(message));
    const day = !nested && (!above || dayKey(above.at) !== dayKey(message.at));
    const quoted = style === "threads" ? byId.get(message.quote ?? "") : undefined;
    return { message, nested, day, quoted, grouped: !day && !quoted && continues(above, message) };
  });
}

/** The main list of the open chat. @param {State} state @returns {Place[]} */
export function mainPlaces(state) {
  const style = replyStyle(state);
  const all = state.messagesOf(state.route.chat);
  if (style === "inline") return places(underRoots(all), style);
  const shown = style === "threads" ? all.filter((message) => !rootOf(message)) : all;
  return places(shown, style);
}

/** The open thread: its root and the replies. @param {State} state @returns {Place[]} */
export function threadPlaces(state) {
  const root = state.route.thread;
  const all = state.messagesOf(state.route.chat);
  return places(all.filter((message) => message.id === root || rootOf(message) === root), "threads");
}
