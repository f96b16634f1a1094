// Points drawn straight into pixels: 100,000 of them take a few milliseconds, which neither
// fillRect nor a GPU emulated in software reaches.

/** A soft disc as offsets and opacities of pixels. */
export function disc(radius, opacity = 1) {
  const dx = [];
  const dy = [];
  const alpha = [];
  const reach = Math.ceil(radius + 0.5);
  for (let y = -reach; y <= reach; y += 1) {
    for (let x = -reach; x <= reach; x += 1) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
      if (cover <= 0) continue;
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
 * @param colors the number of each point's color; `only` draws those of one side of `from`
 * @param palette pixels of the colors
 * @param view see `viewOf` of the camera
 */
export function splat(image, xy, colors, palette, mask, view, [first, last] = [0, 255]) {
  const { pixels, width, height } = image;
  const { dx, dy, alpha, reach } = mask;
  const n = colors.length;
  const right = width - reach - 1;
  const bottom = height - reach - 1;
  for (let i = 0; i < n; i += 1) {
    const color = colors[i];
    if (color < first || color > last) continue;
    const px = Math.round(xy[2 * i] * view.scaleX + view.left);
    const py = Math.round(xy[2 * i + 1] * view.scaleY + view.top);
    // comparisons with NaN are false: a document without a place is not drawn
    if (!(px >= reach && px <= right && py >= reach && py <= bottom)) continue;
    const source = palette[color];
    const redBlue = source & 0xff00ff;
    const green = source & 0x00ff00;
    const at = py * width + px;
    for (let j = 0; j < alpha.length; j += 1) {
      const where = at + dy[j] * width + dx[j];
      const below = pixels[where];
      const a = alpha[j];
      const rest = 256 - a;
      pixels[where] =
        0xff000000 |
        (((redBlue * a + (below & 0xff00ff) * rest) / 256) & 0xff00ff) |
        (((green * a + (below & 0x00ff00) * rest) / 256) & 0x00ff00);
    }
  }
}
