/** Where a person writes: Enter sends, Shift+Enter breaks the line, @ offers names, pictures wait as chips. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { BOT_NAME, chatName } from "../people.js";
import { createMentionList } from "./mention_list.js";
import { createPictures } from "./pictures.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../session.js").Session} Session */

const LEADING_MENTION = new RegExp(`^@${BOT_NAME}(?![\\w-])\\s*`);

/** Texts begun but not sent, by chat and thread. @type {Map<string, string>} */
const drafts = new Map();

/**
 * @param {State} state @param {Session} session
 * @param {{thread: boolean}} options whether it writes into the open thread
 */
export function createComposer(state, session, { thread }) {
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "field", rows: "1", autocomplete: "off" }));
  const pictures = createPictures(state);
  const mentions = createMentionList(state, field);
  const button = (/** @type {string} */ kind, /** @type {any} */ sign, /** @type {() => void} */ act) =>
    h("button", { type: "button", class: `icon-button ${kind}`, onclick: act }, icon(sign));
  const mentionButton = button("mention-button", "at", mentionBot);
  const pictureButton = button("picture-button", "picture", pictures.pick);
  const sendButton = button("send-button", "send", send);
  const hint = h("div", { class: "composer-hint" });
  const box = h("div", { class: "composer-box" }, pictures.node, field,
    h("div", { class: "composer-tools" }, mentionButton, pictureButton, pictures.input, h("span", { class: "grow" }), sendButton));
  const node = h("div", { class: "composer" }, mentions.node, box, hint);
  let subject = "";

  function fit() {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 180)}px`;
    const empty = !field.value.trim() && !pictures.count();
    sendButton.toggleAttribute("disabled", empty);
  }

  function mentionBot() {
    if (!LEADING_MENTION.test(field.value)) field.value = `@${BOT_NAME} ${field.value}`;
    field.focus();
    fit();
  }

  async function send() {
    const typed = field.value.trim();
    if (!typed && !pictures.count()) return;
    const mention = LEADING_MENTION.test(typed);
    const root = thread ? state.route.thread : "";
    field.value = "";
    drafts.delete(subject);
    const files = await pictures.take();
    fit();
    const sent = await session.attempt(async () => {
      await session.say({ text: mention ? typed.replace(LEADING_MENTION, "") : typed, mention, thread: root, files });
      return true;
    });
    if (!sent && !field.value) field.value = typed;
    fit();
  }

  field.addEventListener("input", () => {
    drafts.set(subject, field.value);
    fit();
    mentions.update();
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || mentions.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
  });
  field.addEventListener("paste", (event) => {
    if (pictures.add(event.clipboardData?.files ?? [])) event.preventDefault();
    fit();
  });
  node.addEventListener("dragover", (event) => event.preventDefault());
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    pictures.add(event.dataTransfer?.files ?? []);
    fit();
  });
  pictures.input.addEventListener("change", fit);

  /** @param {HTMLElement} element @param {string} label */
  function name(element, label) {
    element.setAttribute("aria-label", label);
    element.title = label;
  }

  function update() {
    const { chat, t } = state;
    if (!chat) return;
    const now = [state.route.platform, state.route.as, chat.id, thread ? state.route.thread : ""].join("/");
    if (now !== subject) {
      subject = now;
      field.value = drafts.get(now) ?? "";
      fit();
      const busy = document.activeElement?.closest(".topbar");
      if (!busy && matchMedia("(hover: hover)").matches) field.focus({ preventScroll: true });
    }
    const channel = state.route.platform === "slack" && chat.kind !== "direct";
    const label = thread ? t("replyTo") : t("writeTo", { name: `${channel ? "#" : ""}${chatName(state, chat)}` });
    field.placeholder = label;
    field.setAttribute("aria-label", label);
    name(mentionButton, t("mentionBot"));
    name(pictureButton, t("addPicture"));
    name(sendButton, t("send"));
    const mentionable = chat.kind !== "direct" && chat.with_bot;
    mentionButton.hidden = !mentionable;
    hint.textContent = mentionable ? t("mentionHint") : t("keys");
  }

  return { node, update };
}
