// Where the map is looked at: the point in the middle and how near. Plain values, no drawing.

export const HOME = [0, 0, 1];
const NEAREST = 60;
const FARTHEST = 0.5;
const STRETCH = 1.7; // a long panel may stretch the map so much along its longer side

/** Pixels (of CSS) that one unit of the map takes along each axis when everything is seen. */
function fit(width, height) {
  const [x, y] = [width / 2.3, height / 2.3];
  return [Math.min(x, y * STRETCH), Math.min(y, x * STRETCH)];
}

/** How places become pixels: x * scaleX + left is the column, y * scaleY + top the row. */
export function viewOf([x, y, zoom], width, height, ratio = 1) {
  const [scaleX, scaleY] = fit(width, height).map((scale) => scale * zoom * ratio);
  return { scaleX, scaleY, left: (width * ratio) / 2 - x * scaleX, top: (height * ratio) / 2 - y * scaleY };
}

/** The camera after the surface was dragged by some pixels. */
export function panned([x, y, zoom], dx, dy, width, height) {
  const [scaleX, scaleY] = fit(width, height);
  const bound = (value) => Math.max(-1.5, Math.min(1.5, value));
  return [bound(x - dx / (scaleX * zoom)), bound(y - dy / (scaleY * zoom)), zoom];
}

/** The camera after zooming by a factor; the point under (px, py) stays where it is. */
export function zoomed([x, y, zoom], factor, px, py, width, height) {
  const next = Math.max(FARTHEST, Math.min(NEAREST, zoom * factor));
  const [scaleX, scaleY] = fit(width, height);
  const shift = 1 / zoom - 1 / next;
  return [x + ((px - width / 2) / scaleX) * shift, y + ((py - height / 2) / scaleY) * shift, next];
}
