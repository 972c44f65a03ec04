/** The view in the address: #platform=feishu&as=alice&chat=…&thread=…&inspector=1 */

/**
 * @typedef {object} Route
 * @property {"feishu" | "slack"} platform
 * @property {string} as login name, "" for the first person
 * @property {string} chat chat id, "" for the first chat
 * @property {string} thread root message of the open thread, "" for none
 * @property {boolean} inspector
 */

/** @returns {Route} */
export function readRoute() {
  const values = new URLSearchParams(location.hash.slice(1));
  return {
    platform: values.get("platform") === "slack" ? "slack" : "feishu",
    as: values.get("as") ?? "",
    chat: values.get("chat") ?? "",
    thread: values.get("thread") ?? "",
    inspector: values.get("inspector") === "1",
  };
}

/** @param {Route} route */
function routeHash(route) {
  const values = new URLSearchParams({ platform: route.platform, as: route.as });
  if (route.chat) values.set("chat", route.chat);
  if (route.thread) values.set("thread", route.thread);
  if (route.inspector) values.set("inspector", "1");
  return `#${values}`;
}

/** @param {Partial<Route>} change */
export function navigate(change) {
  location.hash = routeHash({ ...readRoute(), ...change });
}

/** Fill in defaults without a new entry in the history. @param {Route} route */
export function settleRoute(route) {
  history.replaceState(null, "", routeHash(route));
}
