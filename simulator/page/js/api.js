/** The simulator's control API (/sim/…). */

/** The simulator refused a call or did not answer. */
class SimError extends Error {}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 */
async function call(path, init) {
  const response = await fetch(path, init);
  if (!response.ok) throw new SimError(`${path}: HTTP ${response.status} ${await response.text()}`);
  return response.json();
}

/** @param {string} path @param {Record<string, string | number>} [query] */
const get = (path, query = {}) => call(`${path}?${new URLSearchParams(/** @type {any} */ (query))}`);

/** @param {string} path @param {unknown} body */
const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/**
 * @typedef {{login: string, name: string, name_zh: string, title: string, title_zh: string,
 *   language: "zh" | "en", avatar_color: string, feishu: string, slack: string}} Person
 * @typedef {{id: string, kind: "direct" | "group" | "topic_group", name: string, name_zh: string,
 *   members: string[], with_bot: boolean, unread: number}} Chat
 * @typedef {{name: string, url: string, media_type: string}} FileLink
 * @typedef {{id: string, chat: string, thread: string | null, quote: string | null, root: boolean, replies: number,
 *   author: {login?: string, bot?: boolean, name: string}, at: number,
 *   kind: "text" | "card" | "stream" | "ephemeral" | "system", text: string, card: any, blocks: any[] | null,
 *   streaming: boolean, status: string, edited: number, deleted: boolean,
 *   reactions: {name: string, by: string[]}[], files: FileLink[], visible_to: string | null,
 *   tasks: {title?: string, status?: string}[]}} Message
 * @typedef {{n: number, at: number, platform: string, method: string, path: string, body: any,
 *   status: number, code: string | number | null, person: string}} ApiCall
 */

export const api = {
  /** @returns {Promise<Person[]>} */
  people: () => get("/sim/people"),
  config: () => get("/sim/config"),
  /** @param {string} platform @param {string} as @returns {Promise<Chat[]>} */
  chats: (platform, as) => get("/sim/chats", { platform, as }),
  /** @param {{platform: string, as: string, chat: string, thread?: string}} query @returns {Promise<Message[]>} */
  messages: (query) => get("/sim/messages", query),
  /** @param {object} body @returns {Promise<{message: string}>} */
  say: (body) => post("/sim/say", body),
  /** @param {object} body @returns {Promise<{answer: any}>} */
  press: (body) => post("/sim/press", body),
  /** @param {object} body @returns {Promise<{answer: any}>} */
  command: (body) => post("/sim/command", body),
  /** @param {number} since @returns {Promise<ApiCall[]>} */
  calls: (since) => get("/sim/calls", { since }),
  /** @returns {Promise<Record<"zh" | "en", {topic: string, question: string, follow_up: string}[]>>} */
  examples: () => call("examples.json"),
};
