// The middle column: Map, Twin, Arrows and Matrix over the same documents.

import { computed } from "@preact/signals";

import { Choice, Note, Select, viewOptions } from "../bits.js";
import { count, plural } from "../format.js";
import { html } from "../html.js";
import { answers, queryMixture } from "../asking.js";
import { corpus, group, level, nameOf, openTopic, pair, state } from "../store.js";
import { HOME, zoomed } from "./camera.js";
import { Matrix } from "./matrix.js";
import { paint, paints } from "./paint.js";
import { Panel, ring } from "./panel.js";

const N_ARROWS = 160;

/** Where the typed query stands, and rings around its answers. */
function drawQuery(context, toPixels, { ink, paper, at }) {
  answers.value.list.slice(0, 10).forEach(({ row }) => {
    const [x, y] = at(row);
    ring(context, x, y, 6, paper, 3.5);
    ring(context, x, y, 6, ink, 1.5);
  });
  const pairs = queryMixture.value;
  if (!pairs || state.layout.value === "umap") return;
  const [x, y] = toPixels(corpus.value.place(pairs));
  context.save();
  context.translate(x, y);
  context.rotate(Math.PI / 4);
  context.fillStyle = ink;
  context.strokeStyle = paper;
  context.lineWidth = 3;
  context.strokeRect(-6, -6, 12, 12);
  context.fillRect(-6, -6, 12, 12);
  context.restore();
  context.font = "600 12px system-ui, sans-serif";
  // at the right border the words stand before the mark
  const before = x > context.canvas.clientWidth - 100;
  const side = before ? x - 14 : x + 14;
  context.textAlign = before ? "right" : "left";
  context.textBaseline = "middle";
  context.lineWidth = 5;
  context.strokeStyle = paper;
  context.strokeText("your query", side, y);
  context.fillStyle = ink;
  context.fillText("your query", side, y);
}

/** Names of topics stand in the middle of their documents when the places are not the model's. */
const umapPlaces = computed(() => {
  if (state.layout.value !== "umap" || !corpus.value.arrays.umap_xy) return null;
  const xy = corpus.value.positions(null, "umap");
  const main = corpus.value.mainTopics(null, group.value);
  const sums = new Map();
  main.forEach((topic, row) => {
    const sum = sums.get(topic) ?? [0, 0, 0];
    sums.set(topic, [sum[0] + xy[2 * row], sum[1] + xy[2 * row + 1], sum[2] + 1]);
  });
  return new Map([...sums].map(([topic, [x, y, n]]) => [topic, [x / n, y / n]]));
});

const MapMode = () => html`
  <${Panel}
    xy=${corpus.value.positions(null, umapPlaces.value ? "umap" : "topics")}
    places=${umapPlaces.value}
    after=${drawQuery}
    about=${answers.value}
    key=${state.layout.value}
    label="Map of all documents."
  />
`;

const TwinMode = () => html`
  <div class=${`twins n${Math.min(4, corpus.value.views.length)}`}>
    ${corpus.value.views.map((view, v) => html`
      <figure key=${v}>
        <figcaption>by <b>${view.name}</b> alone</figcaption>
        <${Panel} xy=${corpus.value.positions(v)} label=${`Map of the documents by ${view.name} alone.`} after=${drawQuery} about=${answers.value} />
      </figure>
    `)}
  </div>
`;

/** Documents whose two views differ most beyond chance, with the places that each view gives. */
const arrows = computed(() => {
  const [a, b] = pair.value;
  const name = corpus.value.disagreement(a, b);
  const beyond = corpus.value.arrays[name];
  if (!beyond) return { all: 0, list: [] };
  const rows = corpus.value.ranked(name, { keep: (row) => beyond[row] >= corpus.value.noticeable && corpus.value.has(row, a) && corpus.value.has(row, b) });
  const chosen = state.doc.value;
  const shown = rows.slice(0, N_ARROWS);
  if (rows.includes(chosen) && !shown.includes(chosen)) shown.push(chosen);
  const place = (row, view) => corpus.value.place(corpus.value.mixture(row, view));
  return { all: rows.length, list: shown.map((row) => ({ row, from: place(row, a), to: place(row, b) })) };
});

function drawArrow(context, [x0, y0], [x1, y1], color, strong) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 3) return;
  // a slight bow keeps arrows there and back apart
  const [cx, cy] = [(x0 + x1) / 2 - (y1 - y0) * 0.14, (y0 + y1) / 2 + (x1 - x0) * 0.14];
  const angle = Math.atan2(y1 - cy, x1 - cx);
  context.globalAlpha = strong ? 1 : 0.6;
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = strong ? 3 : 1.3;
  context.beginPath();
  context.moveTo(x0, y0);
  context.quadraticCurveTo(cx, cy, x1, y1);
  context.stroke();
  context.beginPath();
  context.arc(x0, y0, strong ? 4 : 2, 0, 2 * Math.PI);
  context.moveTo(x1, y1);
  for (const turn of [2.75, -2.75]) context.lineTo(x1 + 8 * Math.cos(angle + turn), y1 + 8 * Math.sin(angle + turn));
  context.fill();
  context.globalAlpha = 1;
}

function drawArrows(context, toPixels, { ink, palette }) {
  const { colors } = paint.value;
  for (const { row, from, to } of arrows.value.list) {
    const strong = row === state.doc.value;
    drawArrow(context, toPixels(from), toPixels(to), strong ? ink : palette[colors[row]], strong);
  }
}

/** The arrow one of whose ends is nearest. */
function findArrow(x, y, reach) {
  let [best, least] = [-1, reach];
  for (const { row, from, to } of arrows.value.list) {
    const distance = Math.min(Math.hypot(from[0] - x, from[1] - y), Math.hypot(to[0] - x, to[1] - y));
    if (distance < least) [best, least] = [row, distance];
  }
  return best;
}

const ArrowsMode = () => html`
  <${Panel} xy=${corpus.value.positions(pair.value[0])} faint label="Arrows between the places that two views give." over=${drawArrows} find=${findArrow} about=${arrows.value} />
`;

const NOTES = {
  map: () => html`Each point is a document, placed among its topics: documents of a kind lie together. ${paint.value.legend.some(({ part }) => part !== undefined) ? "Colors are coarser topics, of which the topics are part. " : ""}Points of one place are moved apart a little.`,
  twin: () => html`The same documents, placed by each view <em>alone</em>. Point at one to find it in the other: where it jumps, its views tell different stories.`,
  arrows: () => {
    const [a, b] = pair.value.map((v) => corpus.value.views[v].name);
    const { all, list } = arrows.value;
    return html`From where <b>${a}</b> puts a document to where <b>${b}</b> does: the ${count(list.length)} largest of ${plural(all, "document")} whose views differ more than chance would make them.`;
  },
  matrix: () => {
    const [a, b] = pair.value.map((v) => corpus.value.views[v].name);
    return html`How many documents have a topic (row) by <b>${a}</b> and a topic (column) by <b>${b}</b>. Cells off the diagonal are disagreements; a click lists their documents.`;
  },
};

const MODES = { map: MapMode, twin: TwinMode, arrows: ArrowsMode, matrix: Matrix };

const swap = (key) => (value) => {
  const [a, b] = pair.value;
  const other = Number(value);
  // two different views always: choosing the other one turns them around
  const next = key === "a" ? [other, other === b ? a : b] : [other === a ? b : a, other];
  [state.a.value, state.b.value] = next;
};

const PairChoice = () => html`
  <${Select} label="from" value=${pair.value[0]} options=${viewOptions()} onChange=${swap("a")} />
  <${Select} label="to" value=${pair.value[1]} options=${viewOptions()} onChange=${swap("b")} />
`;

/** What the colors mean; topics can be opened from here. */
const Legend = () => html`
  <ul class="legend" aria-label="Colors">
    ${paint.value.legend.map(({ color, topic, text, part, n }) => html`
      <li key=${`${color}${topic ?? ""}`}>
        ${topic === undefined
          ? html`<span><i class="dot" style=${{ background: paint.value.palette[color] }}></i>${text}</span>`
          : part !== undefined
            ? html`<button class="link" title=${`${plural(n, "topic")}; opens the largest`} onClick=${() => openTopic(topic)}><i class="dot" style=${{ background: paint.value.palette[color] }}></i><b>${part}</b> <bdi>${level.value.names[part]}</bdi></button>`
            : html`<button class="link" onClick=${() => openTopic(topic)}><i class="dot" style=${{ background: paint.value.palette[color] }}></i>${topic} <bdi>${nameOf(topic)}</bdi></button>`}
      </li>
    `)}
  </ul>
`;

const ZoomButtons = () => html`
  <div class="zoom" role="group" aria-label="Zoom">
    <button aria-label="Zoom in" onClick=${() => (state.camera.value = zoomed(state.camera.value, 1.5, 0.5, 0.5, 1, 1))}>+</button>
    <button aria-label="Zoom out" onClick=${() => (state.camera.value = zoomed(state.camera.value, 1 / 1.5, 0.5, 0.5, 1, 1))}>−</button>
    <button aria-label="Show all" title="Show all" onClick=${() => (state.camera.value = HOME)}>⤢</button>
  </div>
`;

export function Seeing() {
  const several = corpus.value.views.length > 1;
  const modes = [["map", "Map"], ...(several ? [["twin", "Twin"], ["arrows", "Arrows"], ["matrix", "Matrix"]] : [])];
  const mode = modes.some(([key]) => key === state.mode.value) ? state.mode.value : "map";
  const Mode = MODES[mode];
  return html`
    <section class="see" aria-label="Overview">
      <div class="toolbar">
        <${Choice} label="How to look" class="modes" value=${mode} options=${modes} onChange=${(key) => (state.mode.value = key)} />
        ${(mode === "arrows" || mode === "matrix") && html`<${PairChoice} />`}
        ${mode === "map" && corpus.value.arrays.umap_xy && html`
          <${Select} label="Layout" value=${state.layout.value} options=${[["topics", "by topics"], ["umap", "UMAP"]]} onChange=${(key) => (state.layout.value = key)} />`}
        ${mode !== "matrix" && paints.value.length > 1 && html`
          <${Select} label="Color" value=${paint.value.way} options=${paints.value} onChange=${(key) => (state.color.value = key)} />`}
      </div>
      <${Note}>${NOTES[mode]()}</${Note}>
      <div class="stage"><${Mode} />${mode !== "matrix" && html`<${ZoomButtons} />`}</div>
      ${mode !== "matrix" && html`<${Legend} />`}
    </section>
  `;
}
