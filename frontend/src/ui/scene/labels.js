// Names of topics on the map: the largest first, and none over another.

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/**
 * Choose which labels are drawn.
 * @param wanted `[{text, x, y, ...}]` in pixels, most important first
 * @param measure the width of a text
 * @returns those that fit, each with its box
 */
export function placed(wanted, measure, width, height, lineHeight = 16) {
  const boxes = [];
  for (const label of wanted) {
    const half = measure(label.text) / 2 + 4;
    // a name at the border is pushed in, a place outside of the surface has no name
    if (label.x < 0 || label.x > width || label.y < 0 || label.y > height) continue;
    const x = Math.max(half, Math.min(width - half, label.x));
    const y = Math.max(lineHeight / 2, Math.min(height - lineHeight / 2, label.y));
    const box = { left: x - half, right: x + half, top: y - lineHeight / 2, bottom: y + lineHeight / 2 };
    if (boxes.some((other) => overlaps(box, other.box))) continue;
    boxes.push({ ...label, x, y, box });
  }
  return boxes;
}

/** The label under a place, or undefined. */
export const labelAt = (labels, x, y) =>
  labels.find(({ box }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
