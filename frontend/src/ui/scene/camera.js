// Where the map is looked at: the point in the middle and how near. Plain values, no drawing.

export const HOME = [0, 0, 1];
const NEAREST = 60;
const FARTHEST = 0.5;

/** Pixels (of CSS) that one unit of the map takes when everything is seen. */
const fit = (width, height) => Math.min(width, height) / 2.25;

/** `{scale, left, top}` for a surface; x * scale + left is the column. */
export function viewOf([x, y, zoom], width, height, ratio = 1) {
  const scale = fit(width, height) * zoom * ratio;
  return { scale, left: (width * ratio) / 2 - x * scale, top: (height * ratio) / 2 - y * scale };
}

/** The camera after the surface was dragged by some pixels. */
export function panned([x, y, zoom], dx, dy, width, height) {
  const scale = fit(width, height) * zoom;
  const bound = (value) => Math.max(-1.5, Math.min(1.5, value));
  return [bound(x - dx / scale), bound(y - dy / scale), zoom];
}

/** The camera after zooming by a factor; the point under (px, py) stays where it is. */
export function zoomed([x, y, zoom], factor, px, py, width, height) {
  const next = Math.max(FARTHEST, Math.min(NEAREST, zoom * factor));
  const before = fit(width, height) * zoom;
  const after = fit(width, height) * next;
  const [cx, cy] = [px - width / 2, py - height / 2];
  return [x + cx / before - cx / after, y + cy / before - cy / after, next];
}
