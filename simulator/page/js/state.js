/** What the page knows: people, chats and messages of the person in view, with change notices. */

import { texts } from "./texts.js";

/** @typedef {import("./api.js").Message} Message */
/** @typedef {import("./api.js").Chat} Chat */
/** @typedef {import("./api.js").Person} Person */

export class State {
  /** @param {import("./route.js").Route} route */
  constructor(route) {
    this.route = route;
    /** @type {Person[]} */
    this.people = [];
    /** @type {any} */
    this.config = {};
    /** @type {Awaited<ReturnType<typeof import("./api.js").api.examples>>} */
    this.examples = { zh: [], en: [] };
    /** @type {Chat[]} */
    this.chats = [];
    /** @type {Map<string, Map<string, Message>>} messages by chat and id */
    this.messages = new Map();
    /** @type {Set<string>} chats whose messages were fetched */
    this.loaded = new Set();
    this.connected = true;
    /** @type {(() => void)[]} */
    this.listeners = [];
    this.scheduled = false;
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** Tell the views, once for all changes of this moment. */
  changed() {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.listeners.forEach((listener) => listener());
    });
  }

  /** @returns {Person} */
  get me() {
    return this.people.find((person) => person.login === this.route.as) ?? this.people[0];
  }

  /** @returns {"zh" | "en"} */
  get language() {
    return this.me?.language === "zh" ? "zh" : "en";
  }

  /** The page's words in the person's language. */
  get t() {
    return texts(this.language);
  }

  /** @returns {Chat | undefined} */
  get chat() {
    return this.chats.find((chat) => chat.id === this.route.chat);
  }

  /** @param {string} chat @returns {Message[]} oldest first */
  messagesOf(chat) {
    const known = [...(this.messages.get(chat)?.values() ?? [])];
    return known.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  /** @param {Message} message @returns {boolean} true when it was not known before */
  keep(message) {
    const chat = this.messages.get(message.chat) ?? new Map();
    const fresh = !chat.has(message.id);
    chat.set(message.id, message);
    this.messages.set(message.chat, chat);
    this.changed();
    return fresh;
  }

  /** @param {string} id */
  drop(id) {
    for (const chat of this.messages.values()) chat.delete(id);
    this.changed();
  }

  /** Forget what belongs to another person or platform. */
  clear() {
    this.chats = [];
    this.messages.clear();
    this.loaded.clear();
  }
}
