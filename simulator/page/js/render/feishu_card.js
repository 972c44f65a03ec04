/** Feishu card JSON 2.0 as DOM nodes. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { inline, tag } from "./inline.js";
import { link } from "./links.js";
import { markdown } from "./markdown.js";

/**
 * @typedef {object} CardView
 * @property {import("./scan.js").Context} context
 * @property {(action: object) => Promise<void>} press
 * @property {(element: HTMLElement, key: string) => void} grow called for each text that may be streaming
 */

/** @typedef {(element: any, view: CardView) => Node} ElementReader */

/** @param {any} text a plain_text or lark_md object @param {CardView} view @returns {Node[]} */
function words(text, view) {
  if (!text) return [];
  const content = String(text.content ?? "");
  return text.tag === "lark_md" || text.tag === "markdown"
    ? inline(content, view.context)
    : [document.createTextNode(content)];
}

/** @type {ElementReader} */
function readMarkdown(element, view) {
  const node = markdown(String(element.content ?? ""), view.context);
  if (element.text_size) node.dataset.size = element.text_size;
  if (element.text_align) node.style.textAlign = element.text_align;
  view.grow(node, element.element_id ?? "");
  return node;
}

/** @type {ElementReader} */
function readDiv(element, view) {
  const fields = (element.fields ?? []).map((/** @type {any} */ field) => h("div", {}, ...words(field.text, view)));
  return h("div", { class: "card-div" }, ...words(element.text, view), fields.length ? h("div", { class: "fields" }, ...fields) : null);
}

/** @type {ElementReader} */
function readButton(element, view) {
  const behaviors = element.behaviors ?? [];
  const address = behaviors.find((/** @type {any} */ each) => each.type === "open_url")?.default_url ?? element.url;
  const kind = `button button-${String(element.type ?? "default").split("_")[0]}`;
  if (address) {
    const anchor = link(address, words(element.text, view));
    if (anchor instanceof HTMLElement) anchor.className = kind;
    return anchor;
  }
  const value = behaviors.find((/** @type {any} */ each) => each.type === "callback")?.value ?? element.value;
  const button = /** @type {HTMLButtonElement} */ (h("button", { type: "button", class: kind, disabled: element.disabled }, ...words(element.text, view)));
  button.addEventListener("click", async () => {
    button.disabled = true;
    await view.press({ tag: "button", name: element.name, value });
    button.disabled = Boolean(element.disabled);
  });
  return button;
}

/** @type {ElementReader} */
function readColumns(element, view) {
  const columns = (element.columns ?? []).map((/** @type {any} */ column) =>
    h("div", { class: `column column-${column.width === "weighted" ? "weighted" : "auto"}`,
      style: { "--weight": column.weight ?? 1 } }, ...elements(column.elements, view)));
  return h("div", { class: "columns", "data-flex": element.flex_mode, "data-background": element.background_style }, ...columns);
}

/** @type {ElementReader} */
function readPanel(element, view) {
  const summary = h("summary", { onclick: (/** @type {Event} */ event) => {
    const panel = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (event.currentTarget).parentElement);
    panel.dataset.touched = "1";
  } }, icon("down"), h("span", {}, ...words(element.header?.title, view)));
  return h("details", { class: "panel", open: Boolean(element.expanded) }, summary,
    h("div", { class: "panel-body" }, ...elements(element.elements, view)));
}

/** @type {ElementReader} */
function readImage(element, view) {
  const alt = element.alt?.content || view.context.t("picture");
  return h("figure", { class: "picture-placeholder", role: "img", "aria-label": alt }, icon("picture"), h("figcaption", {}, alt));
}

/** @type {ElementReader} */
function readTable(element, view) {
  const columns = element.columns ?? [];
  const cell = (/** @type {any} */ row, /** @type {any} */ column) => {
    const value = row[column.name];
    if (Array.isArray(value)) return value.map((each) => tag(String(each.text ?? each), each.color ?? "blue"));
    const text = String(value ?? "");
    return ["lark_md", "markdown"].includes(column.data_type) ? inline(text, view.context) : [document.createTextNode(text)];
  };
  const head = h("tr", {}, ...columns.map((/** @type {any} */ column) => h("th", {}, column.display_name ?? column.name)));
  const rows = (element.rows ?? []).map((/** @type {any} */ row) =>
    h("tr", {}, ...columns.map((/** @type {any} */ column) => h("td", {}, ...cell(row, column)))));
  return h("div", { class: "table-frame", tabindex: "0" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** @type {Record<string, ElementReader>} */
const READERS = {
  markdown: readMarkdown,
  div: readDiv,
  hr: () => h("hr"),
  button: readButton,
  column_set: readColumns,
  collapsible_panel: readPanel,
  interactive_container: (element, view) => h("div", { class: "card-box" }, ...elements(element.elements, view)),
  img: readImage,
  table: readTable,
};

/** @type {ElementReader} */
const readUnknown = (element) => h("div", { class: "unknown" }, `[${String(element?.tag)}]`);

/** @param {any[] | undefined} list @param {CardView} view @returns {Node[]} */
function elements(list, view) {
  return (list ?? []).map((element) => (READERS[element?.tag] ?? readUnknown)(element, view));
}

/** @param {any} header @param {CardView} view */
function cardHeader(header, view) {
  if (!header?.title?.content) return null;
  const tags = (header.text_tag_list ?? []).map((/** @type {any} */ each) => tag(each.text?.content ?? "", each.color ?? "blue"));
  const subtitle = header.subtitle?.content ? h("div", { class: "card-subtitle" }, ...words(header.subtitle, view)) : null;
  return h("header", { class: `card-header template-${header.template ?? "default"}` },
    h("div", { class: "card-title" }, ...words(header.title, view), ...tags), subtitle);
}

/**
 * @param {any} card card JSON 2.0
 * @param {CardView} view
 * @returns {HTMLElement}
 */
export function feishuCard(card, view) {
  return h("div", { class: "card" }, cardHeader(card.header, view),
    h("div", { class: "card-body" }, ...elements(card.body?.elements, view)));
}
