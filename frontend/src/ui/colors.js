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
 * Put topics into at most eight families of neighbors on the map, so that eight colors show all.
 * @param xy places of the topics
 * @param order topics that are shown, largest first
 * @returns Map from topic to the number of its family; the family of the largest topic is 0
 */
export function families(xy, order) {
  const places = order.map((t) => [xy[2 * t], xy[2 * t + 1]]);
  const apart = (p, q) => (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2;
  let centers = places.slice(0, 1);
  while (centers.length < Math.min(N_COLORS, order.length)) {
    const far = places.map((p) => Math.min(...centers.map((c) => apart(p, c))));
    centers.push(places[far.indexOf(Math.max(...far))]);
  }
  let family = [];
  for (let round = 0; round < 10; round += 1) {
    family = places.map((p) => {
      const distances = centers.map((c) => apart(p, c));
      return distances.indexOf(Math.min(...distances));
    });
    centers = centers.map((old, f) => {
      const own = places.filter((_, i) => family[i] === f);
      return own.length ? [0, 1].map((axis) => own.reduce((sum, p) => sum + p[axis], 0) / own.length) : old;
    });
  }
  const number = new Map(); // families in the order of their largest topic
  family.forEach((f) => number.has(f) || number.set(f, number.size));
  return new Map(order.map((t, i) => [t, number.get(family[i])]));
}
