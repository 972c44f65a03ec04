/** Starts the chat page: joins state, session and views. */

import { readRoute } from "./route.js";
import { Session } from "./session.js";
import { State } from "./state.js";
import { createConversation } from "./view/conversation.js";
import { createInspector } from "./view/inspector.js";
import { renderSidebar } from "./view/sidebar.js";
import { createThread } from "./view/thread.js";
import { createToasts } from "./view/toast.js";
import { renderTopbar } from "./view/topbar.js";

/** @param {string} id @returns {HTMLElement} */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const state = new State(readRoute());
const session = new Session(state, createToasts(part("toasts")));
const conversation = createConversation(part("conversation"), state, session);
const thread = createThread(part("thread"), state, session);
const inspector = createInspector(part("inspector"), state);

state.subscribe(() => {
  document.documentElement.lang = state.language === "zh" ? "zh-CN" : "en";
  document.body.dataset.platform = state.route.platform;
  document.body.dataset.screen = state.chat ? "chat" : "list";
  renderTopbar(part("topbar"), state);
  renderSidebar(part("sidebar"), state);
  conversation();
  thread();
  inspector();
});

await session.attempt(() => session.start());
