import assert from "node:assert/strict";
import test from "node:test";

import { assign, coloredLevel, levelSlots, N_COLORS, pixel, ramp } from "../src/ui/colors.js";
import { panned, viewOf, zoomed } from "../src/ui/scene/camera.js";
import { gridOf, nearest } from "../src/ui/scene/grid.js";
import { labelAt, placed } from "../src/ui/scene/labels.js";
import { disc, splat } from "../src/ui/scene/splat.js";

const WHITE = pixel("#ffffff");
const HERE = { scaleX: 1, scaleY: 1, left: 0, top: 0 };
const blank = (width, height) => ({ pixels: new Uint32Array(width * height).fill(WHITE), width, height });

test("a point is drawn where it stands, in its color", () => {
  const image = blank(20, 10);
  splat(image, Float32Array.of(5, 4), Uint8Array.of(1), [0, pixel("#336699")], disc(2), HERE);
  assert.equal(image.pixels[4 * 20 + 5], pixel("#336699"));
  assert.equal(image.pixels[9 * 20 + 19], WHITE);
});

test("half opaque points mix with what is below", () => {
  const image = blank(9, 9);
  splat(image, Float32Array.of(4, 4), Uint8Array.of(0), [pixel("#000000")], disc(1, 0.5), HERE);
  assert.equal(image.pixels[4 * 9 + 4].toString(16), "ff7f7f7f");
});

test("points outside and without a place are not drawn", () => {
  const image = blank(8, 8);
  splat(image, Float32Array.of(NaN, NaN, -5, 3, 100, 100, 7.6, 7.6), new Uint8Array(4), [0], disc(1), HERE);
  assert.ok(image.pixels.every((p) => p === WHITE));
});

test("only the colors that are asked for are drawn", () => {
  const image = blank(9, 9);
  splat(image, Float32Array.of(4, 4), Uint8Array.of(3), [1, 1, 1, 1], disc(1), HERE, [0, 0]);
  assert.ok(image.pixels.every((p) => p === WHITE));
});

test("zooming keeps the place under the pointer", () => {
  const at = (camera, x, y) => {
    const view = viewOf(camera, 800, 500);
    return [(x - view.left) / view.scaleX, (y - view.top) / view.scaleY];
  };
  const before = [0.2, -0.1, 1.5];
  const after = zoomed(before, 2, 100, 400, 800, 500);
  at(before, 100, 400).forEach((v, i) => assert.ok(Math.abs(v - at(after, 100, 400)[i]) < 1e-9));
  assert.equal(after[2], 3);
  assert.ok(zoomed(before, 1e9, 0, 0, 800, 500)[2] <= 60);
});

test("dragging moves the map with the pointer", () => {
  const before = viewOf([0, 0, 2], 800, 500);
  const after = viewOf(panned([0, 0, 2], 30, -12, 800, 500), 800, 500);
  assert.ok(Math.abs(after.left - before.left - 30) < 1e-9 && Math.abs(after.top - before.top + 12) < 1e-9);
});

test("the nearest document is found, as by looking at all", () => {
  const n = 500;
  const xy = Float32Array.from({ length: 2 * n }, (_, i) => Math.sin(i * 12.9898) );
  xy[0] = NaN;
  const grid = gridOf(xy);
  for (let q = 0; q < 50; q += 1) {
    const [x, y, reach] = [Math.cos(q), Math.sin(q * 3), 0.2];
    let [best, least] = [-1, reach];
    for (let i = 0; i < n; i += 1) {
      const distance = Math.hypot(xy[2 * i] - x, xy[2 * i + 1] - y);
      if (distance < least) [best, least] = [i, distance];
    }
    assert.equal(nearest(grid, x, y, reach), best);
  }
});

test("labels do not overlap, and the first wanted stays", () => {
  const wanted = Array.from({ length: 80 }, (_, i) => ({ text: `topic ${i}`, x: (i * 37) % 400, y: (i * 53) % 300 }));
  const labels = placed(wanted, (text) => text.length * 7, 400, 300);
  assert.equal(labels[0].text, "topic 0");
  labels.forEach((a, i) =>
    labels.slice(i + 1).forEach((b) =>
      assert.ok(a.box.right <= b.box.left || b.box.right <= a.box.left || a.box.bottom <= b.box.top || b.box.bottom <= a.box.top)));
  assert.equal(labelAt(labels, labels[3].x, labels[3].y), labels[3]);
});

test("at most eight colors, and topics in focus keep theirs", () => {
  const first = assign([4, 9, 1]);
  const second = assign([7, 1, 9, 2], first);
  assert.equal(second.get(9), first.get(9));
  assert.equal(second.get(1), first.get(1));
  assert.equal(new Set(second.values()).size, 4);
  assert.equal(assign(Array.from({ length: 20 }, (_, i) => i)).size, N_COLORS);
});

test("colors are of the finest level of at most eight topics", () => {
  const of = (n) => ({ names: Array.from({ length: n }, String), members: Array.from({ length: 30 }, (_, t) => t % n) });
  const levels = [of(12), of(7), of(3)];
  assert.equal(coloredLevel(levels, 30), levels[1]);
  assert.equal(coloredLevel([of(12), of(9)], 30).names.length, 9); // the coarsest
  assert.equal(coloredLevel(levels, N_COLORS), null); // a color for each topic
  assert.equal(coloredLevel([], 30), null);
});

test("topics have the color of the topic that they are part of, the largest eight have one", () => {
  const order = Array.from({ length: 30 }, (_, i) => 29 - i);
  const level = { members: Array.from({ length: 30 }, (_, t) => t % 9) };
  const found = levelSlots(level, order);
  assert.equal(found.get(29), 2);
  assert.equal(found.has(8), false); // of the ninth
  assert.deepEqual(new Set(found.values()).size, N_COLORS);
  assert.deepEqual(levelSlots(null, [3, 1]), new Map([[3, 0], [1, 1]]));
  assert.equal(levelSlots(null, order).size, N_COLORS);
});

test("a ramp ends in its color", () => {
  assert.equal(ramp("#ffffff", "#336699", 4).at(-1), "#336699");
});
