/** The drawer that lists every API call the bot made to this workspace. */

import { api } from "../api.js";
import { wholeTime } from "../clock.js";
import { h, reconcile } from "../dom.js";
import { icon } from "../icons.js";
import { navigate } from "../route.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../api.js").ApiCall} ApiCall */

/** Milliseconds between two looks while the drawer is open. */
const PACE = 1000;

/** Newest calls kept on the screen. */
const KEPT = 300;

/** @param {ApiCall} call */
const failed = (call) => call.status >= 400 || !["", "0", "ok", "null"].includes(String(call.code));

/** @param {ApiCall} call */
function callRow(call) {
  const body = JSON.stringify(call.body, null, 2) ?? "";
  return h("details", { class: `call call-${call.platform}${failed(call) ? " is-failed" : ""}` },
    h("summary", {},
      h("span", { class: "call-line" }, h("span", { class: `method method-${call.method.toLowerCase()}` }, call.method),
        h("span", { class: "call-path", title: call.path }, call.path)),
      h("span", { class: "call-meta" }, h("time", {}, wholeTime(call.at)), h("span", { class: "call-status" }, String(call.status)),
        failed(call) ? h("span", { class: "call-code" }, String(call.code)) : null, h("span", {}, call.person), h("span", {}, call.platform))),
    h("pre", { class: "code", tabindex: "0" }, body));
}

/** @param {State} state */
function header(state) {
  const close = state.t("closeInspector");
  return h("div", { class: "pane-head" },
    h("div", { class: "pane-title" }, h("div", { class: "pane-name" }, h("h2", {}, state.t("inspector"))), h("small", {}, state.t("inspectorHint"))),
    h("span", { class: "grow" }),
    h("button", { type: "button", class: "icon-button", "aria-label": close, title: close, onclick: () => navigate({ inspector: false }) }, icon("close")));
}

/**
 * @param {HTMLElement} place @param {State} state
 * @returns {() => void} brings the view up to date
 */
export function createInspector(place, state) {
  const top = h("div", { class: "pane-top" });
  const list = h("div", { class: "calls", tabindex: "0" });
  place.append(top, list);
  /** @type {ApiCall[]} */
  let calls = [];
  /** @type {number | undefined} */
  let timer;

  function show() {
    const rows = calls.toReversed().map((call) => ({ key: String(call.n), deps: [call.n, call.at], build: () => callRow(call) }));
    const none = { key: "none", deps: [state.language], build: () => h("p", { class: "no-calls" }, state.t("noCalls")) };
    reconcile(list, rows.length ? rows : [none]);
  }

  async function look() {
    try {
      const fresh = await api.calls(calls.at(-1)?.n ?? 0);
      calls = [...calls, ...fresh].slice(-KEPT);
      if (fresh.length) show();
    } catch (error) {
      console.warn(error);
    }
    timer = state.route.inspector ? window.setTimeout(look, PACE) : undefined;
  }

  return () => {
    const open = state.route.inspector;
    place.toggleAttribute("hidden", !open);
    if (!open) return;
    place.setAttribute("aria-label", state.t("inspector"));
    reconcile(top, [{ key: "head", deps: [state.language], build: () => header(state) }]);
    show();
    if (timer === undefined) {
      timer = 0;
      look();
    }
  };
}
