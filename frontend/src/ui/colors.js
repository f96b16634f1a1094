// At most eight colors at a time, safe for color-blind eyes (after Okabe and Ito); everything else
// is gray. A topic that stays in view keeps its color. Names and numbers stand beside every color.

export const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b4508f", "#c98a00", "#3f9fd8", "#6b4c9a", "#8a6237"];
export const DARK = ["#4ba3e3", "#ff8a4c", "#2fc79a", "#e08bc4", "#f0b93a", "#8fd0f5", "#ae92e0", "#cfa578"];
export const GRAY = { light: "#b3b9c2", dark: "#4d5662" };
export const PAPER = { light: "#fbfbfa", dark: "#12161c" };
export const N_COLORS = LIGHT.length;

/** Give each topic in focus a slot from 0 to 7, keeping those that it had. */
export function assign(focus, before = new Map()) {
  const wanted = focus.slice(0, N_COLORS);
  const slots = new Map(wanted.filter((t) => before.has(t)).map((t) => [t, before.get(t)]));
  const taken = new Set(slots.values());
  let next = 0;
  for (const topic of wanted) {
    if (slots.has(topic)) continue;
    while (taken.has(next)) next += 1;
    slots.set(topic, next);
    taken.add(next);
  }
  return slots;
}

/** "#rrggbb" -> the pixel that ImageData wants (little-endian ABGR). */
export function pixel(hex) {
  const value = parseInt(hex.slice(1), 16);
  return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** Steps of one hue from the color of the paper to `hex`: for amounts. */
export function ramp(paper, hex, steps) {
  const parts = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  const [from, to] = [parts(paper), parts(hex)];
  return Array.from({ length: steps }, (_, i) => {
    const t = (i + 1) / steps;
    const mixed = from.map((x, j) => Math.round(x + (to[j] - x) * t));
    return `#${mixed.map((x) => x.toString(16).padStart(2, "0")).join("")}`;
  });
}

/**
 * Choose the level of the tree whose topics have colors: the finest of at most eight topics, else the
 * coarsest; null if eight colors are enough for the topics themselves, or there is no tree.
 * @param levels coarser levels of the model's tree, from fine to coarse
 * @param n topics that are shown
 */
export function coloredLevel(levels, n) {
  if (n <= N_COLORS || levels.length === 0) return null;
  return levels.find(({ names }) => names.length <= N_COLORS) ?? levels.at(-1);
}

/**
 * Give topics the colors of the topics of a level, which are numbered by size; the ninth and those
 * after it have none. Without a level, the first eight topics have a color each.
 * @param level of the tree, or null
 * @param order topics that are shown, largest first
 * @returns Map from topic to a slot from 0 to 7
 */
export function levelSlots(level, order) {
  const slots = order.map((t, i) => [t, level ? level.members[t] : i]);
  return new Map(slots.filter(([, slot]) => slot < N_COLORS));
}
