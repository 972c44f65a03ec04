/** The simulator's own bar: platform, person, API calls. */

import { h, reconcile } from "../dom.js";
import { icon } from "../icons.js";
import { personAvatar, personName, personTitle } from "../people.js";
import { navigate } from "../route.js";
import { menu } from "./menu.js";

/** @typedef {import("../state.js").State} State */

/** @param {State} state */
function brand(state) {
  return h("div", { class: "brand" }, h("span", { class: "brand-mark" }, icon("plumb")),
    h("span", { class: "brand-name" }, "Plumbline"), h("span", { class: "brand-tag" }, state.t("simulator")));
}

/** @param {State} state */
function platforms(state) {
  const one = (/** @type {"feishu" | "slack"} */ platform, /** @type {string} */ label) =>
    h("button", {
      type: "button", class: "segment", "aria-pressed": String(state.route.platform === platform),
      dataset: { platform },
      onclick: () => navigate({ platform, chat: "", thread: "" }),
    }, label);
  return h("div", { class: "segments", role: "group", "aria-label": state.t("platform") },
    one("feishu", state.t("feishuLook")), one("slack", state.t("slackLook")));
}

/** @param {State} state @param {import("../api.js").Person} person */
const identity = (state, person) => [
  personAvatar(state, person, "avatar-small"),
  h("span", { class: "identity" }, h("strong", {}, personName(person, state.language)), h("small", {}, personTitle(person, state.language))),
];

/** @param {State} state */
function personMenu(state) {
  return menu({
    label: `${state.t("switchPerson")}: ${personName(state.me, state.language)}`,
    kind: "person-menu",
    face: [h("span", { class: "face-hint" }, state.t("actAs")), ...identity(state, state.me), icon("down")],
    choices: state.people.map((person) => ({
      id: person.login, checked: person.login === state.me.login, content: [...identity(state, person), icon("check", "tick")],
    })),
    choose: (login) => navigate({ as: login, thread: "" }),
  });
}

/** @param {State} state */
function inspectorToggle(state) {
  const { inspector } = state.route;
  return h("button", {
    type: "button", class: "inspector-toggle", "aria-pressed": String(inspector), title: state.t("inspectorHint"),
    onclick: () => navigate({ inspector: !inspector }),
  }, icon("pulse"), h("span", {}, state.t("inspector")));
}

/** @param {HTMLElement} place @param {State} state */
export function renderTopbar(place, state) {
  if (!state.me) return;
  const { platform, as, inspector } = state.route;
  reconcile(place, [
    { key: "brand", deps: [state.language], build: () => brand(state) },
    { key: "platforms", deps: [state.language, platform], build: () => platforms(state) },
    { key: "person", deps: [as, state.people], build: () => personMenu(state) },
    { key: "inspector", deps: [state.language, inspector], build: () => inspectorToggle(state) },
  ]);
}
