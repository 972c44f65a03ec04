/** Loads what the address asks for, follows live news and sends what the person does. */

import { api } from "./api.js";
import { replyStyle, rootOf } from "./layout.js";
import { readRoute, settleRoute } from "./route.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./api.js").Message} Message */

/** Below this width the chat list is a screen of its own. */
const narrow = matchMedia("(max-width: 720px)");

export class Session {
  /**
   * @param {State} state
   * @param {(text: string, kind?: string) => void} toast
   */
  constructor(state, toast) {
    this.state = state;
    this.toast = toast;
    /** @type {EventSource | null} */
    this.stream = null;
    this.following = "";
  }

  async start() {
    const [people, config, examples] = await Promise.all([api.people(), api.config(), api.examples()]);
    Object.assign(this.state, { people, config, examples });
    window.addEventListener("hashchange", () => this.attempt(() => this.follow()));
    await this.follow();
  }

  /** Run something that talks to the simulator and say so when it fails.
   * @template T @param {() => Promise<T>} work @returns {Promise<T | undefined>} */
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      console.warn(error);
      this.toast(this.state.t("failed"), "error");
      return undefined;
    }
  }

  /** Bring the state to what the address says. */
  async follow() {
    const { state } = this;
    const route = readRoute();
    if (!state.people.some((person) => person.login === route.as)) route.as = state.people[0]?.login ?? "";
    const who = `${route.platform}/${route.as}`;
    state.route = route;
    if (who !== this.following) await this.become(who);
    if (who !== this.following || !state.chats.length) return;
    this.chooseChat();
    state.changed();
    await this.loadChat();
  }

  /** @param {string} who platform and login */
  async become(who) {
    const { state } = this;
    this.following = who;
    this.stream?.close();
    state.clear();
    state.changed();
    await this.listen();
    if (this.following !== who) return;
    const chats = await api.chats(state.route.platform, state.route.as);
    if (this.following === who) state.chats = chats;
  }

  /** Without a chat in the address the first one opens; a narrow screen may show the list alone. */
  chooseChat() {
    const { state } = this;
    const asked = state.route.chat;
    if (state.chat || (asked === "list" && narrow.matches)) return;
    state.route = { ...state.route, chat: state.chats[0]?.id ?? "", thread: "" };
    settleRoute(state.route);
  }

  async loadChat() {
    const { state } = this;
    const { chat } = state;
    if (!chat) return;
    chat.unread = 0;
    const { platform, as, thread } = state.route;
    if (!state.loaded.has(chat.id)) {
      const messages = await api.messages({ platform, as, chat: chat.id });
      if (this.following !== `${platform}/${as}`) return;
      messages.forEach((message) => state.keep(message));
      state.loaded.add(chat.id);
      state.changed();
    }
    const roots = replyStyle(state) === "threads" ? [] : state.messagesOf(chat.id).filter((message) => message.replies);
    await Promise.all([...new Set([...roots.map((root) => root.id), thread])].map((root) => this.loadThread(chat.id, root)));
  }

  /** Fetch the replies of a thread that are not known yet. @param {string} chat @param {string} root */
  async loadThread(chat, root) {
    const { state } = this;
    const known = state.messagesOf(chat);
    const wanted = known.find((message) => message.id === root)?.replies ?? 0;
    if (!root || known.filter((message) => rootOf(message) === root).length >= wanted) return;
    const { platform, as } = state.route;
    const replies = await api.messages({ platform, as, chat, thread: root });
    if (this.following === `${platform}/${as}`) replies.forEach((message) => state.keep(message));
  }

  /** Open the stream; done when it is open, so that no message falls between what is loaded and the stream. */
  async listen() {
    const { state } = this;
    const { platform, as } = state.route;
    const stream = new EventSource(`/sim/stream?${new URLSearchParams({ platform, as })}`);
    stream.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    stream.addEventListener("deleted", (event) => state.drop(JSON.parse(event.data).id));
    stream.addEventListener("reset", () => this.attempt(() => this.restart()));
    stream.addEventListener("open", () => this.setConnected(true));
    stream.addEventListener("error", () => this.setConnected(false));
    this.stream = stream;
    await new Promise((resolve) => {
      stream.addEventListener("open", resolve, { once: true });
      stream.addEventListener("error", resolve, { once: true });
    });
  }

  /** The simulator went back to its start. */
  async restart() {
    this.following = "";
    await this.follow();
  }

  /** After a break, fetch again what was missed. @param {boolean} connected */
  setConnected(connected) {
    const { state } = this;
    if (connected && !state.connected) {
      state.loaded.clear();
      this.attempt(() => this.loadChat());
    }
    state.connected = connected;
    state.changed();
  }

  /** @param {Message} message */
  receive(message) {
    const { state } = this;
    const fresh = state.keep(message);
    const chat = state.chats.find((each) => each.id === message.chat);
    const mine = message.author.login === state.me.login;
    if (fresh && chat && chat.id !== state.route.chat && !mine) chat.unread += 1;
  }

  /** @param {{text: string, mention: boolean, thread: string, files: object[]}} message */
  async say({ text, mention, thread, files }) {
    const { platform, as, chat } = this.state.route;
    const command = /^(\/plumb)(?:\s+([\s\S]*))?$/.exec(text);
    if (platform === "slack" && command) {
      const { answer } = await api.command({ as, chat, command: command[1], text: command[2] ?? "" });
      this.showAnswer(answer);
      return;
    }
    await api.say({ platform, as, chat, text, mention, files, ...(thread ? { thread } : {}) });
  }

  /** Press a button of a message. @param {Message} message @param {object} action */
  async press(message, action) {
    const { platform, as, chat } = this.state.route;
    await this.attempt(async () => {
      const { answer } = await api.press({ platform, as, chat, message: message.id, action });
      this.showAnswer(answer);
    });
  }

  /** Show what the bot answered to a press or a command, when it is meant to be seen at once.
   * @param {any} answer */
  showAnswer(answer) {
    const toast = answer?.toast;
    const locale = this.state.language === "zh" ? "zh_cn" : "en_us";
    const text = toast ? (toast.i18n?.[locale] ?? toast.content) : answer?.text;
    if (text) this.toast(text, toast?.type ?? "info");
  }
}
