/** Builds and patches DOM nodes; text always becomes text nodes, never markup. */

/** @typedef {Node | string | null | undefined | false | Child[]} Child */

/**
 * Append children, skipping the empty ones; strings become text nodes.
 * @param {Node} parent
 * @param {Child[]} children
 */
export function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

/**
 * Create an element. Props that start with "on" are listeners, `class` and `dataset` are
 * understood, `true` sets an empty attribute, and false, null or undefined leave it out.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "style") Object.entries(value).forEach(([k, v]) => node.style.setProperty(k, v));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/**
 * @typedef {object} Row
 * @property {string} key unique among its siblings
 * @property {unknown[]} deps the row is built again when one of these changes
 * @property {() => HTMLElement} build
 */

/** @type {WeakMap<Element, {key: string, deps: unknown[]}>} */
const built = new WeakMap();

/** @param {unknown[]} a @param {unknown[]} b */
const same = (a, b) => a.length === b.length && a.every((value, index) => value === b[index]);

const FOCUSABLE = "a, button, summary";

/** @param {HTMLElement} old @param {HTMLElement} fresh */
function carryOver(old, fresh) {
  const focused = [...old.querySelectorAll(FOCUSABLE)].indexOf(/** @type {Element} */ (document.activeElement));
  const open = [...old.querySelectorAll("details")].map((panel) => panel.dataset.touched && panel.open);
  old.replaceWith(fresh);
  fresh.querySelectorAll("details").forEach((panel, index) => {
    if (open[index] === undefined) return;
    panel.open = Boolean(open[index]);
    panel.dataset.touched = "1";
  });
  if (focused >= 0) /** @type {HTMLElement} */ (fresh.querySelectorAll(FOCUSABLE)[focused])?.focus();
}

/**
 * Make the container hold exactly these rows in this order, touching only what changed; focus and
 * panels a person opened survive.
 * @param {HTMLElement} container
 * @param {Row[]} rows
 */
export function reconcile(container, rows) {
  const existing = new Map();
  for (const node of [...container.children]) {
    const known = built.get(node);
    if (known) existing.set(known.key, node);
    else node.remove();
  }
  let cursor = container.firstElementChild;
  for (const row of rows) {
    let node = existing.get(row.key);
    existing.delete(row.key);
    if (!node || !same(built.get(node)?.deps ?? [], row.deps)) {
      const fresh = row.build();
      built.set(fresh, { key: row.key, deps: row.deps });
      if (node) {
        if (cursor === node) cursor = fresh;
        carryOver(node, fresh);
      }
      node = fresh;
    }
    if (node === cursor) cursor = cursor.nextElementSibling;
    else container.insertBefore(node, cursor);
  }
  for (const node of existing.values()) node.remove();
}
