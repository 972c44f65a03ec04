/** Reaction names and :codes: of both platforms as small pictures. */

import { h } from "../dom.js";
import { icon } from "../icons.js";

/** @type {Record<string, Parameters<typeof icon>[0]>} */
const ICONS = {
  eyes: "eye", glance: "eye", onit: "eye", get: "eye", see: "eye",
  "+1": "up", thumbsup: "up", jiayi: "up", "-1": "thumbdown", thumbsdown: "thumbdown",
  white_check_mark: "check", heavy_check_mark: "check", done: "check", ok: "check", checkmark: "check",
  hourglass: "hourglass", hourglass_flowing_sand: "hourglass", typing: "hourglass", onesecond: "hourglass",
  heart: "heart", warning: "warning", thinking_face: "spark", thinking: "spark", sparkles: "spark",
  mag: "search", page_facing_up: "doc", lock: "lock", x: "close", crossmark: "close",
  arrows_counterclockwise: "reply", speech_balloon: "thread", bulb: "spark",
};

/** @param {string} name @returns {Node} */
export function emoji(name) {
  const known = ICONS[name.toLowerCase()];
  const label = `:${name}:`;
  if (!known) return h("span", { class: "emoji-name" }, label);
  return h("span", { class: `emoji emoji-${known}`, role: "img", "aria-label": label, title: label }, icon(known));
}
