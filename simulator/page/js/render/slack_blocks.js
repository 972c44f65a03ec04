/** Slack blocks as DOM nodes. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { emoji } from "./emoji.js";
import { link } from "./links.js";
import { markdown } from "./markdown.js";
import { mrkdwn } from "./mrkdwn.js";
import { richText } from "./rich_text.js";

/**
 * @typedef {object} BlocksView
 * @property {import("./scan.js").Context} context
 * @property {(action: object) => Promise<void>} press
 * @property {(element: HTMLElement, key: string) => void} grow called for each text that may be streaming
 */

/** @typedef {(block: any, view: BlocksView, index: number) => Node} BlockReader */

/** @param {any} text a text object @param {BlocksView} view @returns {Node} */
function words(text, view) {
  if (text?.type === "mrkdwn") return mrkdwn(String(text.text ?? ""), view.context);
  return h("span", { class: "plain" }, String(text?.text ?? ""));
}

/** Send a press and keep the button from being pressed twice meanwhile.
 * @param {HTMLElement} node @param {object} action @param {BlocksView} view */
function pressable(node, action, view) {
  const button = /** @type {HTMLButtonElement} */ (node);
  button.addEventListener("click", async () => {
    button.disabled = true;
    await view.press(action);
    button.disabled = false;
  });
  return button;
}

/** @param {any} element @param {string} block_id @param {BlocksView} view */
function button(element, block_id, view) {
  const { type, action_id, value, text } = element;
  const kind = `button button-${element.style ?? "default"}`;
  if (element.url) {
    const anchor = link(element.url, [words(text, view)]);
    if (anchor instanceof HTMLElement) {
      anchor.className = kind;
      anchor.addEventListener("click", () => void view.press({ type, action_id, block_id, value, text, url: element.url }));
    }
    return anchor;
  }
  const node = h("button", { type: "button", class: kind, "aria-label": element.accessibility_label }, words(text, view));
  return pressable(node, { type, action_id, block_id, value, text }, view);
}

/** @param {any} element @param {string} block_id @param {BlocksView} view @returns {Node[]} */
function feedbackButtons(element, block_id, view) {
  const one = (/** @type {any} */ choice, /** @type {"up" | "thumbdown"} */ sign) => {
    const label = choice?.accessibility_label ?? choice?.text?.text ?? "";
    const node = h("button", { type: "button", class: "icon-button", title: choice?.text?.text, "aria-label": label }, icon(sign));
    const action = { type: "feedback_buttons", action_id: element.action_id, block_id, value: choice?.value, text: choice?.text };
    return pressable(node, action, view);
  };
  return [one(element.positive_button, "up"), one(element.negative_button, "thumbdown")];
}

/** @param {any} element @param {string} block_id @param {BlocksView} view */
function iconButton(element, block_id, view) {
  const label = element.accessibility_label ?? element.text?.text ?? "";
  const sign = element.icon === "trash" ? icon("trash") : emoji(String(element.icon));
  const node = h("button", { type: "button", class: "icon-button", title: label, "aria-label": label }, sign);
  return pressable(node, { type: "icon_button", action_id: element.action_id, block_id, value: element.value }, view);
}

/** @param {any} element @param {string} block_id @param {BlocksView} view @returns {Node | Node[]} */
function control(element, block_id, view) {
  if (element.type === "button") return button(element, block_id, view);
  if (element.type === "feedback_buttons") return feedbackButtons(element, block_id, view);
  if (element.type === "icon_button") return iconButton(element, block_id, view);
  if (element.type === "image") return picture(element);
  return unknown(element);
}

/** @param {any} element */
const picture = (element) =>
  h("span", { class: "picture-stub", role: "img", "aria-label": element.alt_text }, icon("picture"), element.alt_text);

/** @type {BlockReader} */
function section(block, view) {
  const fields = (block.fields ?? []).map((/** @type {any} */ field) => words(field, view));
  const body = h("div", { class: "section-text" }, block.text ? words(block.text, view) : null,
    fields.length ? h("div", { class: "fields" }, ...fields) : null);
  return h("div", { class: "section" }, body, block.accessory ? control(block.accessory, block.block_id, view) : null);
}

/** @type {BlockReader} */
function context(block, view) {
  const parts = (block.elements ?? []).map((/** @type {any} */ element) =>
    element.type === "image" ? picture(element) : words(element, view));
  return h("div", { class: "context" }, ...parts);
}

/** @type {BlockReader} */
const controls = (block, view) =>
  h("div", { class: block.type === "context_actions" ? "context-actions" : "actions" },
    ...(block.elements ?? []).map((/** @type {any} */ element) => control(element, block.block_id, view)));

/** @type {BlockReader} */
function streamable(block, view, index) {
  const node = markdown(String(block.text ?? ""), view.context);
  view.grow(node, String(index));
  return node;
}

/** @type {BlockReader} */
const unknown = (block) => h("div", { class: "unknown" }, `[${String(block?.type)}]`);

/** @type {Record<string, BlockReader>} */
const READERS = {
  section,
  context,
  actions: controls,
  context_actions: controls,
  header: (block) => h("div", { class: "block-header" }, String(block.text?.text ?? "")),
  divider: () => h("hr"),
  markdown: streamable,
  rich_text: (block, view) => richText(block, view.context),
  image: picture,
};

/** @param {any[]} blocks @param {BlocksView} view @returns {HTMLElement} */
export function slackBlocks(blocks, view) {
  return h("div", { class: "blocks" }, ...blocks.map((block, index) => (READERS[block?.type] ?? unknown)(block, view, index)));
}
