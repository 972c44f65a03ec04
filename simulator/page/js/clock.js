/** Times and days in the reader's language. */

/** @param {number} seconds @param {"zh" | "en"} language */
export function clockTime(seconds, language) {
  const options = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hour12: false });
  return new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", options).format(seconds * 1000);
}

/** @param {number} seconds */
export function wholeTime(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour12: false });
}

/** @param {number} seconds the day as a key that compares equal within one local day */
export const dayKey = (seconds) => new Date(seconds * 1000).toDateString();

/**
 * @param {number} seconds @param {"zh" | "en"} language
 * @param {(key: "today" | "yesterday") => string} t
 */
export function dayName(seconds, language, t) {
  const now = Date.now() / 1000;
  if (dayKey(seconds) === dayKey(now)) return t("today");
  if (dayKey(seconds) === dayKey(now - 86400)) return t("yesterday");
  const options = /** @type {const} */ ({ month: "long", day: "numeric", weekday: "long" });
  return new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", options).format(seconds * 1000);
}
