// Topic by one view against topic by another: what is off the diagonal are disagreements.

import { computed } from "@preact/signals";
import { useRef } from "preact/hooks";

import { ramp } from "../colors.js";
import { clip, count, plural } from "../format.js";
import { html } from "../html.js";
import { corpus, dark, group, nameOf, pair, state, topics } from "../store.js";
import { paint } from "./paint.js";
import { useSurface } from "./surface.js";

const MOST = 60; // topics that are drawn; cells of more could not be told apart
const SHADES = 7;

/** Documents counted by their main topic in each of two views. */
export const cells = computed(() => {
  const [a, b] = pair.value;
  const [first, second] = [corpus.value.mainTopics(a, group.value), corpus.value.mainTopics(b, group.value)];
  const order = topics.value.slice(0, MOST).map(({ topic }) => topic);
  const place = new Map(order.map((topic, i) => [topic, i]));
  const counts = new Uint32Array(order.length ** 2);
  for (let row = 0; row < first.length; row += 1) {
    const [i, j] = [place.get(first[row]), place.get(second[row])];
    if (i !== undefined && j !== undefined) counts[i * order.length + j] += 1;
  }
  return { order, counts, first, second };
});

/** Rows of the documents in a cell. */
export function documentsIn([i, j]) {
  const { first, second } = cells.value;
  const rows = [];
  for (let row = 0; row < first.length; row += 1) if (first[row] === i && second[row] === j) rows.push(row);
  return rows;
}

export function openCell(i, j) {
  state.cell.value = [i, j];
  state.list.value = "cell";
  state.side.value = "lists";
  state.tab.value = "find";
}

const layoutOf = (width, height, n) => {
  const names = Math.min(170, width * 0.28);
  const above = Math.min(120, height * 0.2);
  const side = Math.max(2, Math.min((width - names - 8) / n, (height - above - 8) / n));
  return { left: names, top: above, side };
};

function draw(canvas, size, cursor) {
  const { order, counts } = cells.value;
  const n = order.length;
  const context = canvas.getContext("2d");
  const ink = getComputedStyle(canvas).color;
  const { left, top, side } = layoutOf(size.width, size.height, n);
  const shades = ramp(dark.value ? "#1b222b" : "#f3f5f8", dark.value ? "#4ba3e3" : "#0072b2", SHADES);
  const odd = ramp(dark.value ? "#1b222b" : "#f3f5f8", dark.value ? "#ff8a4c" : "#d55e00", SHADES);
  let [onMost, offMost] = [1, 1];
  counts.forEach((c, at) => {
    if (Math.floor(at / n) === at % n) onMost = Math.max(onMost, c);
    else offMost = Math.max(offMost, c);
  });
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const gap = side > 6 ? 1 : 0;
  for (let i = 0; i < n; i += 1) {
    for (let j = 0; j < n; j += 1) {
      const c = counts[i * n + j];
      const level = Math.ceil(Math.sqrt(c / (i === j ? onMost : offMost)) * SHADES) - 1;
      context.fillStyle = c === 0 ? (dark.value ? "#181e26" : "#f5f6f8") : (i === j ? shades : odd)[level];
      context.fillRect(left + j * side, top + i * side, side - gap, side - gap);
    }
  }
  drawNames(context, order, { left, top, side, ink });
  const mark = (i, j, width) => {
    context.lineWidth = width;
    context.strokeStyle = ink;
    context.strokeRect(left + j * side - 1, top + i * side - 1, side + 1, side + 1);
  };
  const chosen = state.list.value === "cell" && state.cell.value?.map((t) => order.indexOf(t));
  if (chosen && chosen[0] >= 0 && chosen[1] >= 0) mark(...chosen, 2.5);
  if (cursor) mark(...cursor, 1.5);
}

function drawNames(context, order, { left, top, side, ink }) {
  const size = Math.max(8, Math.min(12, side * 0.95));
  const every = Math.ceil(11 / side); // names that would overlap are left out
  context.font = `${size}px system-ui, sans-serif`;
  context.fillStyle = ink;
  context.textBaseline = "middle";
  order.forEach((topic, i) => {
    if (i % every) return;
    const text = `${topic} ${clip(nameOf(topic), 26)}`;
    context.textAlign = "right";
    context.fillText(clip(text, Math.floor(left / (size * 0.56))), left - 6, top + (i + 0.5) * side, left - 8);
    context.save();
    context.translate(left + (i + 0.5) * side, top - 6);
    context.rotate(-Math.PI / 3);
    context.textAlign = "left";
    context.fillText(clip(text, Math.floor(top / (size * 0.5))), 0, 0);
    context.restore();
  });
}

/** The largest disagreements as a list: the same for those who do not see the picture. */
const Largest = () => {
  const { order, counts } = cells.value;
  const n = order.length;
  const off = [...counts.keys()].filter((at) => Math.floor(at / n) !== at % n && counts[at] > 0);
  off.sort((x, y) => counts[y] - counts[x] || x - y);
  return html`
    <div class="largest">
      <h2>Largest disagreements</h2>
      <ol>
        ${off.slice(0, 8).map((at) => {
          const [i, j] = [order[Math.floor(at / n)], order[at % n]];
          return html`<li key=${at}><button class="link" onClick=${() => openCell(i, j)}>
            <b class="n">${count(counts[at])}</b> <bdi>${nameOf(i)}</bdi> → <bdi>${nameOf(j)}</bdi></button></li>`;
        })}
      </ol>
      ${off.length === 0 && html`<p class="empty">None: the main topics agree for every document.</p>`}
    </div>
  `;
};

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export function Matrix() {
  const cursor = useRef(null);
  const said = useRef(null);
  const { order, counts } = cells.value;
  void [dark.value, state.cell.value, state.list.value, paint.value];
  const canvas = useSurface((element, size) => draw(element, size, cursor.current));
  const redraw = () => {
    const { clientWidth: width, clientHeight: height } = canvas.current;
    draw(canvas.current, { width, height, ratio: canvas.current.width / width }, cursor.current);
    const [i, j] = cursor.current ?? [];
    said.current.textContent =
      i === undefined
        ? ""
        : `${clip(nameOf(order[i]), 40)} → ${clip(nameOf(order[j]), 40)}: ${plural(counts[i * order.length + j], "document")}`;
  };
  const cellAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const { left, top, side } = layoutOf(box.width, box.height, order.length);
    const [j, i] = [Math.floor((event.clientX - box.left - left) / side), Math.floor((event.clientY - box.top - top) / side)];
    return i >= 0 && j >= 0 && i < order.length && j < order.length ? [i, j] : null;
  };
  const point = (next) => {
    cursor.current = next;
    redraw();
  };
  const open = () => cursor.current && openCell(...cursor.current.map((i) => order[i]));
  const key = (event) => {
    const step = ARROWS[event.key];
    if (event.key === "Enter" || event.key === " ") open();
    else if (step) {
      const bound = (x) => Math.max(0, Math.min(order.length - 1, x));
      point(cursor.current ? cursor.current.map((x, axis) => bound(x + step[axis])) : [0, 0]);
    } else return;
    event.preventDefault();
  };
  const [a, b] = pair.value.map((v) => corpus.value.views[v].name);
  return html`
    <div class="matrix">
      <div class="grid" role="application" tabindex="0" aria-label=${`Matrix of topics by ${a} and topics by ${b}. Arrow keys move, Enter lists the documents.`}
        onPointerMove=${(e) => point(cellAt(e))} onPointerLeave=${() => point(null)} onClick=${(e) => { point(cellAt(e)); open(); }} onKeyDown=${key}>
        <canvas ref=${canvas}></canvas>
      </div>
      <p class="said" aria-live="polite" ref=${said}></p>
      <${Largest} />
      ${topics.value.length > order.length && html`<p class="note">The ${order.length} largest of ${count(topics.value.length)} topics.</p>`}
    </div>
  `;
}
