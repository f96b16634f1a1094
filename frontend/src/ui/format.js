// Numbers and words as people read them.

/** .1234 -> "12%"; small shares keep a digit. */
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  if (share > 0 && share < 0.001) return "<0.1%";
  return `${share < 0.0995 ? (share * 100).toFixed(1) : Math.round(share * 100)}%`;
}

/** 12345 -> "12,345". */
export const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

/** 1 -> "1 document", 2 -> "2 documents". */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** A score with two digits, or a dash where there is none. */
export const score = (x) => (Number.isFinite(x) ? x.toFixed(2) : "–");

/** The start of a text; a word of a megabyte must not stop the page. */
export function clip(text, length = 80) {
  const string = String(text ?? "");
  return string.length <= length ? string : `${string.slice(0, length - 1).trimEnd()}…`;
}
