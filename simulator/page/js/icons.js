/** Line icons of the page, drawn here so that no font or file from elsewhere is needed. */

const NS = "http://www.w3.org/2000/svg";

/** Outlines on a 24 x 24 grid. */
const PATHS = {
  plumb: "M12 2v7M7.500 9h9l-1.300 5.500L12 22l-3.200-7.500z",
  send: "M4 12 20 4l-4.500 16-3.500-6.500zM12 13.500 20 4",
  at: "M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0zm0 0v1.500a2.500 2.500 0 0 0 5 0V12a9 9 0 1 0-3.600 7.200",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 2.500-2.500L20 17M15.500 9.500h.01",
  close: "M6 6l12 12M18 6 6 18",
  back: "M15 5l-7 7 7 7",
  down: "M6 9l6 6 6-6",
  check: "M5 12.500l4.500 4.500L19 7.500",
  reply: "M10 8 4 13l6 5v-3.500c4.500 0 7.500 1 10 4 0-6-4-8.500-10-8.500z",
  thread: "M5 5h14v10H11l-4 4v-4H5z",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
  pulse: "M3 12h4l3-7 4 14 3-7h4",
  chat: "M4 5h16v11h-8l-4 4v-4H4z",
  calendar: "M5 6h14v14H5zM5 10h14M9 4v4M15 4v4",
  doc: "M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5",
  people: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-6 8c0-3 2.500-5 6-5s6 2 6 5M16 5.500a3 3 0 0 1 0 5.500M17.500 14.300c2 .7 3.500 2.300 3.500 4.700",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm5-2 4.500 4.500",
  eye: "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12zm9.500 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  spark: "M12 3l2 6.500L20.500 12 14 14.500 12 21l-2-6.500L3.500 12 10 9.500z",
  up: "M7 11v9H4v-9zM7 11l4-8c1.500 0 2.500 1 2.500 2.500V9H19a1.800 1.800 0 0 1 1.700 2.200l-1.500 7A2 2 0 0 1 17.200 20H7",
  thumbdown: "M7 13V4H4v9zM7 13l4 8c1.500 0 2.500-1 2.500-2.500V15H19a1.800 1.800 0 0 0 1.700-2.200l-1.500-7A2 2 0 0 0 17.200 4H7",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  hash: "M9 4 7 20M17 4l-2 16M4.500 9h16M3.500 15h16",
  hourglass: "M7 3h10M7 21h10M8 3c0 5 3 6 4 9-1 3-4 4-4 9M16 3c0 5-3 6-4 9 1 3 4 4 4 9",
  heart: "M12 20s-8-5-8-10.500A4.500 4.500 0 0 1 12 7a4.500 4.500 0 0 1 8 2.500C20 15 12 20 12 20z",
  warning: "M12 4 2.500 20h19zM12 10v4.500M12 17.300h.01",
  arrow: "M5 12h13M12.500 6.500 18 12l-5.500 5.500",
};

/**
 * @param {keyof typeof PATHS} name
 * @param {string} [kind] an additional class
 * @returns {SVGSVGElement}
 */
export function icon(name, kind = "") {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon ${kind}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(NS, "path");
  path.setAttribute("d", PATHS[name]);
  svg.appendChild(path);
  return svg;
}
