/** Walks a text and lets rules turn what they match into nodes; the rest stays text. */

/**
 * @typedef {object} Context
 * @property {"feishu" | "slack"} platform
 * @property {(id: string) => string} nameOf shown name of a platform id, "" when unknown
 * @property {ReturnType<typeof import("../texts.js").texts>} t
 */

/** @typedef {(match: RegExpExecArray, context: Context) => Node | string} Builder */
/** @typedef {[pattern: RegExp, build: Builder]} Rule a sticky pattern and what it becomes */

/** Most characters start nothing; this spares them the rules. */
const PLAIN = /[\p{Script=Han}\d ]/u;

/**
 * @param {string} text
 * @param {Rule[]} rules the first one that matches wins
 * @param {Context} context
 * @returns {Node[]}
 */
export function scan(text, rules, context) {
  /** @type {Node[]} */
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const step = applyRule(text, at, rules, context);
    if (step && typeof step.made !== "string") {
      flush();
      nodes.push(step.made);
    } else {
      plain += step ? step.made : text[at];
    }
    at = step ? step.end : at + 1;
  }
  flush();
  return nodes;
}

/** @param {string} text @param {number} at @param {Rule[]} rules @param {Context} context */
function applyRule(text, at, rules, context) {
  if (PLAIN.test(text[at])) return null;
  for (const [pattern, build] of rules) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return { made: build(match, context), end: at + match[0].length };
  }
  return null;
}
