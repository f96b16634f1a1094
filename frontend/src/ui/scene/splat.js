// Points drawn straight into pixels: 100,000 of them take a few milliseconds, which neither
// fillRect nor a GPU emulated in software reaches.

const FAINTEST = 0.06; // pixels of less are not seen, and cost as much as others

/** A soft disc as offsets and opacities of pixels. */
export function disc(radius, opacity = 1) {
  const dx = [];
  const dy = [];
  const alpha = [];
  const reach = Math.ceil(radius + 0.5);
  for (let y = -reach; y <= reach; y += 1) {
    for (let x = -reach; x <= reach; x += 1) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
      if (cover * opacity < FAINTEST) continue;
      dx.push(x);
      dy.push(y);
      alpha.push(Math.round(256 * cover * opacity));
    }
  }
  return { dx: Int32Array.from(dx), dy: Int32Array.from(dy), alpha: Int32Array.from(alpha), reach };
}

/** The radius that keeps a frame short: the more documents, the smaller. */
export const radiusFor = (n, zoom, ratio) =>
  Math.max(0.8, Math.min(4.5, 17 / (n + 1) ** 0.25) * Math.min(1.8, zoom ** 0.25)) * ratio;

/**
 * Draw points over what is in `pixels`.
 * @param image `{pixels: Uint32Array, width, height}`, opaque
 * @param xy positions, two numbers a point, NaN where there is none
 * @param colors the number of each point's color
 * @param palette pixels of the colors
 * @param view see `viewOf` of the camera
 * @param range draw only points whose color is in it, so that gray ones can go below the others
 */
export function splat(image, xy, colors, palette, mask, view, range = [0, 255]) {
  const { pixels, width, height } = image;
  const [first, last] = range;
  const { alpha, reach } = mask;
  const offsets = mask.dx.map((dx, j) => mask.dy[j] * width + dx);
  const size = alpha.length;
  const n = colors.length;
  const { scaleX, scaleY, left, top } = view;
  const right = width - reach - 1;
  const bottom = height - reach - 1;
  for (let i = 0; i < n; i += 1) {
    const color = colors[i];
    if (color < first || color > last) continue;
    const px = xy[2 * i] * scaleX + left;
    const py = xy[2 * i + 1] * scaleY + top;
    // comparisons with NaN are false: a document without a place is not drawn
    if (!(px >= reach && px <= right && py >= reach && py <= bottom)) continue;
    const source = palette[color];
    const redBlue = source & 0xff00ff;
    const green = source & 0x00ff00;
    const at = ((py + 0.5) | 0) * width + ((px + 0.5) | 0);
    for (let j = 0; j < size; j += 1) {
      const where = at + offsets[j];
      const below = pixels[where];
      const a = alpha[j];
      const rest = 256 - a;
      pixels[where] =
        0xff000000 |
        (((Math.imul(redBlue, a) + Math.imul(below & 0xff00ff, rest)) >>> 8) & 0xff00ff) |
        (((Math.imul(green, a) + Math.imul(below & 0x00ff00, rest)) >>> 8) & 0x00ff00);
    }
  }
}
