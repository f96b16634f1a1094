// Which document is nearest to a place: points sorted into square cells once.

const SIDE = 128;

/** Sort points between -1.2 and 1.2 into cells. */
export function gridOf(xy) {
  const n = xy.length / 2;
  const cellOf = new Int32Array(n).fill(-1);
  const start = new Uint32Array(SIDE * SIDE + 1);
  for (let i = 0; i < n; i += 1) {
    const cell = cellAt(xy[2 * i], xy[2 * i + 1]);
    cellOf[i] = cell;
    if (cell >= 0) start[cell + 1] += 1;
  }
  for (let c = 0; c < SIDE * SIDE; c += 1) start[c + 1] += start[c];
  const fill = start.slice();
  const items = new Uint32Array(start[SIDE * SIDE]);
  for (let i = 0; i < n; i += 1) {
    if (cellOf[i] >= 0) items[fill[cellOf[i]]++] = i;
  }
  return { xy, start, items };
}

const column = (x) => Math.max(0, Math.min(SIDE - 1, Math.floor(((x + 1.2) / 2.4) * SIDE)));
const cellAt = (x, y) => (x === x && y === y ? column(y) * SIDE + column(x) : -1);

/** The document nearest to (x, y), at most `reach` away, or -1. */
export function nearest({ xy, start, items }, x, y, reach) {
  let best = -1;
  let least = reach * reach;
  for (let row = column(y - reach); row <= column(y + reach); row += 1) {
    for (let col = column(x - reach); col <= column(x + reach); col += 1) {
      const cell = row * SIDE + col;
      for (let j = start[cell]; j < start[cell + 1]; j += 1) {
        const i = items[j];
        const distance = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
        if (distance < least) {
          least = distance;
          best = i;
        }
      }
    }
  }
  return best;
}
