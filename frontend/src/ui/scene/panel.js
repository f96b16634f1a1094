// One map: points as pixels, over them names, rings and arrows, and a tip for what is pointed at.

import { useMemo, useRef } from "preact/hooks";

import { pixel } from "../colors.js";
import { clip } from "../format.js";
import { html } from "../html.js";
import { corpus, group, hovered, nameOf, openDocument, openTopic, shownDoc, shownTopic, state } from "../store.js";
import { viewOf } from "./camera.js";
import { gestures } from "./gestures.js";
import { gridOf, nearest } from "./grid.js";
import { labelAt, placed } from "./labels.js";
import { paint, topicLabels } from "./paint.js";
import { disc, radiusFor, splat } from "./splat.js";
import { useSurface } from "./surface.js";

const REACH = 14; // pixels around the pointer in which a document is found

/** Draw all documents into the pixels of a canvas. */
function drawPoints(canvas, { width, height, ratio }, xy, faint, store) {
  const [w, h] = [canvas.width, canvas.height];
  if (store.image?.width !== w || store.image?.height !== h) {
    store.image = new ImageData(w, h);
    store.pixels = new Uint32Array(store.image.data.buffer);
  }
  const { colors, pixels: palette, paper } = paint.value;
  const view = viewOf(state.camera.value, width, height, ratio);
  const radius = radiusFor(colors.length, state.camera.value[2], ratio);
  store.pixels.fill(pixel(paper));
  const image = { pixels: store.pixels, width: w, height: h };
  splat(image, xy, colors, palette, disc(radius * 0.85, faint ? 0.3 : 0.55), view, [0, 0]);
  splat(image, xy, colors, palette, disc(radius, faint ? 0.35 : 0.85), view, [1, 255]);
  canvas.getContext("2d").putImageData(store.image, 0, 0);
}

export function ring(context, x, y, radius, color, width = 2) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.lineWidth = width;
  context.strokeStyle = color;
  context.stroke();
}

/** Write names with the color of the paper around them, so that they can be read over points. */
function drawLabels(context, labels, ink, paper) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { text, x, y, strong } of labels) {
    context.font = fontOf(strong);
    context.lineWidth = 4;
    context.strokeStyle = paper;
    context.globalAlpha = 0.9;
    context.strokeText(text, x, y);
    context.globalAlpha = 1;
    context.fillStyle = ink;
    context.fillText(text, x, y);
  }
}

const fontOf = (strong) => `${strong ? 700 : 500} ${strong ? 13 : 12}px system-ui, sans-serif`;

/** Names that fit, the chosen topic's first. */
function chooseLabels(context, size, places) {
  const view = viewOf(state.camera.value, size.width, size.height);
  const lift = places ? 0 : Math.min(30, corpus.value.spread * view.scaleY * 0.75); // above its documents
  const wanted = topicLabels.value
    .map(({ topic, name, at }) => {
      const [x, y] = places?.get(topic) ?? at;
      return { topic, text: clip(name, 30), x: x * view.scaleX + view.left, y: y * view.scaleY + view.top - lift, strong: topic === shownTopic.value };
    })
    .sort((a, b) => b.strong - a.strong);
  context.font = fontOf(true);
  return placed(wanted, (text) => context.measureText(text).width, size.width, size.height);
}

/**
 * A map of all documents.
 * @param xy places of the documents
 * @param label what the map shows, for those who do not see it
 * @param over draws more below the names, `after` above them: (context, toPixels, colors) => void
 * @param find finds a document near a place, instead of the nearest point
 * @param about what is drawn there: another value makes the map draw again
 * @param places of the topics' names, where they are not those of the model
 */
export function Panel({ xy, label, over, after, find, places, faint = false, names = true }) {
  const store = useRef({}).current;
  const grid = useMemo(() => gridOf(xy), [xy]);
  const labels = useRef([]);
  const few = corpus.value.n < 30000;
  // reading the signals here makes the panel draw again when they change
  const { paper, palette } = paint.value;
  const camera = state.camera.value;
  const [hover, chosen] = [hovered.value, shownDoc.value];
  void [topicLabels.value, shownTopic.value];

  const points = useSurface((canvas, size) => drawPoints(canvas, size, xy, faint, store), few ? 2 : 1);
  const overlay = useSurface((canvas, size) => {
    const context = canvas.getContext("2d");
    const ink = getComputedStyle(canvas).color;
    const view = viewOf(state.camera.value, size.width, size.height);
    const toPixels = ([x, y]) => [x * view.scaleX + view.left, y * view.scaleY + view.top];
    const at = (row) => toPixels([xy[2 * row], xy[2 * row + 1]]);
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    over?.(context, toPixels, { ink, paper, palette, at });
    labels.current = names ? chooseLabels(context, size, places) : [];
    drawLabels(context, labels.current, ink, paper);
    after?.(context, toPixels, { ink, paper, palette, at });
    if (chosen !== null) {
      ring(context, ...at(chosen), 9, paper, 5);
      ring(context, ...at(chosen), 9, ink, 2.5);
    }
    if (hover >= 0) ring(context, ...at(hover), 7, ink, 1.5);
    store.size = size;
  });

  function documentAt(x, y, reach) {
    const { width, height } = store.size ?? {};
    if (!width) return -1;
    const view = viewOf(state.camera.value, width, height);
    const [mapX, mapY] = [(x - view.left) / view.scaleX, (y - view.top) / view.scaleY];
    return (find ?? ((...place) => nearest(grid, ...place)))(mapX, mapY, reach / Math.min(view.scaleX, view.scaleY));
  }

  const handlers = useMemo(
    () =>
      gestures({
        hover: (x, y) => (hovered.value = store.documentAt(x, y, REACH)),
        leave: () => (hovered.value = -1),
        pick: (x, y, reach = REACH) => {
          const name = labelAt(labels.current, x, y);
          const row = store.documentAt(x, y, name ? 4 : reach);
          if (row >= 0) openDocument(row);
          else if (name) openTopic(name.topic);
        },
      }),
    [],
  );
  store.documentAt = documentAt;

  const view = store.size ? viewOf(camera, store.size.width, store.size.height) : null;
  const seen = hover >= 0 && view && xy[2 * hover] === xy[2 * hover];
  return html`
    <div class="panel" role="application" tabindex="0" aria-label=${`${label} Arrow keys move, + and - zoom, 0 shows all, Enter opens the document in the middle.`} ...${handlers}>
      <canvas class="points" ref=${points}></canvas>
      <canvas class="overlay" ref=${overlay}></canvas>
      <span class="crosshair" aria-hidden="true"></span>
      ${seen && html`<${Tip} row=${hover} x=${xy[2 * hover] * view.scaleX + view.left} y=${xy[2 * hover + 1] * view.scaleY + view.top} size=${store.size} />`}
    </div>
  `;
}

/** What is known about the document under the pointer. */
function Tip({ row, x, y, size }) {
  const pairs = corpus.value.mixture(row, null, group.value).slice(0, 2);
  const lacking = corpus.value.lacking(row).map((v) => corpus.value.views[v].name);
  const style = {
    left: `${Math.max(0, Math.min(size.width - 250, x + 14))}px`,
    ...(y > size.height - 130 ? { bottom: `${size.height - y + 12}px` } : { top: `${Math.max(0, y + 14)}px` }),
  };
  return html`
    <div class="tip" style=${style}>
      <strong><bdi>${corpus.value.title(row, 110)}</bdi></strong>
      <span dir="auto">${corpus.value.said(row, null, 90)}</span>
      ${pairs.map(([topic, share]) => html`<span><b class="n">${Math.round(100 * share)}%</b> <bdi>${clip(nameOf(topic), 40)}</bdi></span>`)}
      ${lacking.length > 0 && html`<span>lacks ${lacking.join(", ")}</span>`}
    </div>
  `;
}
