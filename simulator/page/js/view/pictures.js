/** Pictures waiting to be sent: taken by paste, drop or click, shown as chips. */

import { h } from "../dom.js";
import { icon } from "../icons.js";

/** @param {File} file @returns {Promise<string>} */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1]);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** @param {import("../state.js").State} state */
export function createPictures(state) {
  /** @type {{file: File, chip: HTMLElement}[]} */
  let waiting = [];
  const node = h("div", { class: "chips", hidden: true });
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", accept: "image/*", multiple: true, hidden: true }));

  function refresh() {
    node.hidden = !waiting.length;
    node.replaceChildren(...waiting.map((each) => each.chip));
  }

  /** @param {File} file */
  function chipFor(file) {
    const address = URL.createObjectURL(file);
    const label = state.t("removePicture", { name: file.name });
    const remove = () => {
      URL.revokeObjectURL(address);
      waiting = waiting.filter((each) => each.file !== file);
      refresh();
    };
    return h("span", { class: "chip" }, h("img", { src: address, alt: "" }), h("span", { class: "chip-name" }, file.name),
      h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: remove }, icon("close")));
  }

  /** @param {Iterable<File>} files @returns {boolean} true when a picture was among them */
  function add(files) {
    const pictures = [...files].filter((file) => file.type.startsWith("image/"));
    waiting.push(...pictures.map((file) => ({ file, chip: chipFor(file) })));
    refresh();
    return pictures.length > 0;
  }

  input.addEventListener("change", () => {
    add(input.files ?? []);
    input.value = "";
  });

  return {
    node,
    input,
    add,
    pick: () => input.click(),
    count: () => waiting.length,
    /** @returns {Promise<{name: string, media_type: string, base64: string}[]>} all of them, which empties the list */
    async take() {
      const files = waiting.map((each) => each.file);
      waiting = [];
      refresh();
      return Promise.all(files.map(async (file) => ({ name: file.name, media_type: file.type, base64: await base64(file) })));
    },
  };
}
