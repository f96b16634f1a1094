// Lists of documents worth a look: views disagree, a view is missing, no topic fits, one cell.

import { useState } from "preact/hooks";

import { Documents, Note, Select, viewOptions } from "./bits.js";
import { filter } from "./asking.js";
import { clip, percent, plural } from "./format.js";
import { html } from "./html.js";
import { documentsIn } from "./scene/matrix.js";
import { corpus, nameOf, pair, state } from "./store.js";

const PAGE = 50;

const passes = (row) => !filter.value || filter.value(row);

/** The two views that are compared, null for any. */
const between = () => (state.between.value?.every((v) => corpus.value.views[v]) ? state.between.value : null);

function disagreeing() {
  const { arrays, noticeable } = corpus.value;
  const name = between() ? corpus.value.disagreement(...between()) : "disagreement.beyond";
  const values = arrays[name];
  return {
    rows: corpus.value.ranked(name, { keep: (row) => values[row] >= noticeable && passes(row) }),
    value: (row) => `+${percent(Math.min(1, values[row]))}`,
    note: html`Documents whose views tell different stories: with the topics of one view, at least ${percent(noticeable)} more of what explains another is lost than by chance. A wrong caption, a swapped translation, irony.`,
  };
}

/** The view whose gaps are listed: the chosen one, or the one with most gaps. */
function gapView() {
  const { views } = corpus.value;
  if (state.gap.value !== null && state.gap.value < views.length) return state.gap.value;
  const coverage = views.map((view) => view.coverage ?? 1);
  return coverage.indexOf(Math.min(...coverage));
}

function lacking() {
  const view = gapView();
  const { n } = corpus.value;
  const rows = [];
  for (let row = 0; row < n; row += 1) if (!corpus.value.has(row, view) && passes(row)) rows.push(row);
  return { rows, note: html`Documents without ${corpus.value.views[view].name}. Open one to see the words that the other views predict for it.` };
}

function unfitting() {
  const { fit } = corpus.value.arrays;
  return {
    rows: corpus.value.ranked("fit", { ascending: true, keep: passes }),
    value: (row) => `${Math.exp(-fit[row]).toFixed(1)}×`,
    note: html`Documents that the topics explain least, whatever their length: outliers, another language, or a topic that is missing. The number says how many times less likely their words are than those of documents drawn from the model.`,
  };
}

function inCell() {
  const cell = state.cell.value;
  const [a, b] = pair.value.map((v) => corpus.value.views[v].name);
  if (!cell) return { rows: [], note: html`Choose a cell of the matrix.` };
  return {
    rows: documentsIn(cell).filter(passes),
    note: html`Documents with topic <b><bdi>${nameOf(cell[0])}</bdi></b> by ${a} and <b><bdi>${nameOf(cell[1])}</bdi></b> by ${b}.`,
  };
}

const LISTS = { disagree: disagreeing, lacks: lacking, unfit: unfitting, cell: inCell };

/** A choice of two of several views. */
function Between() {
  const { meta, views } = corpus.value;
  const pairs = meta.pairs.map((two) => [two.join(), two.map((v) => clip(views[v].name, 30)).join(" and ")]);
  return html`<${Select} plain label="Between" value=${between()?.join()} options=${[["", "any of its views"], ...pairs]}
    onChange=${(two) => (state.between.value = two ? two.split(",").map(Number) : null)} />`;
}

export function Lists() {
  const [shown, show] = useState(PAGE);
  const several = corpus.value.views.length > 1;
  const kinds = [
    ...(several ? [["disagree", "Views disagree"], ["lacks", "Lacks a view"]] : []),
    ["unfit", "No topic fits"],
    ...(state.cell.value ? [["cell", "Cell of the matrix"]] : []),
  ];
  const kind = kinds.some(([key]) => key === state.list.value) ? state.list.value : "unfit";
  const { rows, value, note } = LISTS[kind]();
  return html`
    <${Select} plain label="List" value=${kind} options=${kinds} onChange=${(key) => { state.list.value = key; show(PAGE); }} />
    ${kind === "disagree" && corpus.value.views.length > 2 && html`<${Between} />`}
    ${kind === "lacks" && html`<${Select} plain label="View" value=${gapView()} options=${viewOptions()} onChange=${(v) => (state.gap.value = Number(v))} />`}
    <${Note}>${note}</${Note}>
    <p class="total" aria-live="polite">${plural(rows.length, "document")}</p>
    <${Documents} label="Documents of the list" rows=${rows.slice(0, shown)} value=${value} />
    ${rows.length > shown && html`<button class="small more" onClick=${() => show(shown + PAGE)}>Show ${Math.min(PAGE, rows.length - shown)} more</button>`}
  `;
}
