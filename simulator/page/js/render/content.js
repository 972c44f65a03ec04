/** The content of one message, rendered as its platform would. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { reveal } from "../reveal.js";
import { feishuCard } from "./feishu_card.js";
import { BARE_URL, link } from "./links.js";
import { mrkdwn } from "./mrkdwn.js";
import { mention } from "./inline.js";
import { scan } from "./scan.js";
import { slackBlocks } from "./slack_blocks.js";

/** @typedef {import("../api.js").Message} Message */
/** @typedef {import("./scan.js").Context} Context */

/** @type {import("./scan.js").Rule[]} what Feishu makes of a plain text message */
const FEISHU_TEXT = [
  [/@(Plumbline|_all)(?!\w)/y, (match, context) => mention(match[1] === "_all" ? context.t("everyone") : match[1])],
  [/\[([^[\]\n]+)\]\((https?:\/\/[^()\s]+)\)/y, (match) => link(match[2], [match[1]])],
  [BARE_URL, (match) => link(match[0], [match[0]])],
];

/** @param {Message} message @returns {HTMLElement | null} */
function files(message) {
  if (!message.files?.length) return null;
  return h("div", { class: "files" }, ...message.files.map((file) =>
    file.media_type?.startsWith("image/")
      ? h("a", { href: file.url, target: "_blank", rel: "noopener noreferrer", class: "picture" }, h("img", { src: file.url, alt: file.name }))
      : h("a", { href: file.url, target: "_blank", rel: "noopener noreferrer", class: "file" }, icon("doc"), file.name)));
}

/**
 * @param {Message} message @param {Context} context
 * @param {(action: object) => Promise<void>} press
 */
function feishu(message, context, press) {
  if (message.card) {
    const grow = (/** @type {HTMLElement} */ element, /** @type {string} */ key) =>
      reveal(element, `${message.id}/${key}`, message.streaming);
    return feishuCard(message.card, { context, press, grow });
  }
  return message.text ? h("div", { class: "bubble plain" }, ...scan(message.text, FEISHU_TEXT, context)) : null;
}

/** The steps a streaming answer reports. @param {Message} message @returns {HTMLElement | null} */
function tasks(message) {
  if (!message.tasks.length) return null;
  return h("ul", { class: "tasks" }, ...message.tasks.map((task) =>
    h("li", { "data-status": task.status }, icon(task.status === "complete" ? "check" : "hourglass"), h("span", {}, String(task.title ?? "")))));
}

/**
 * @param {Message} message @param {Context} context
 * @param {(action: object) => Promise<void>} press
 */
function slack(message, context, press) {
  const grow = (/** @type {HTMLElement} */ element, /** @type {string} */ key) =>
    reveal(element, `${message.id}/${key}`, message.streaming);
  const steps = tasks(message);
  const body = message.blocks?.length ? slackBlocks(message.blocks, { context, press, grow }) : message.text ? mrkdwn(message.text, context) : null;
  return steps || body ? h("div", { class: "bubble" }, steps, body) : null;
}

/**
 * @param {Message} message
 * @param {Context} context
 * @param {(action: object) => Promise<void>} press sends the press of a button
 * @returns {HTMLElement}
 */
export function content(message, context, press) {
  if (message.deleted) return h("div", { class: "content deleted" }, context.t("deleted"));
  const body = context.platform === "feishu" ? feishu(message, context, press) : slack(message, context, press);
  return h("div", { class: "content" }, body, files(message));
}
