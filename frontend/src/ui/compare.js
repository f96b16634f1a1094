// Two topics or two documents beside each other.

import { noWords, topicWords } from "../core/words.js";
import { Mark, Note, Select } from "./bits.js";
import { clip, percent } from "./format.js";
import { html } from "./html.js";
import { Mixtures } from "./document.js";
import { compared, corpus, group, nameOf, openDocument, openTopic, slots, state, topics } from "./store.js";

const N_TERMS = 16;

/** Terms of either topic with both probabilities, those that differ most first. */
function contrast(view, one, two) {
  const { data } = corpus.value;
  const indices = new Set();
  for (const topic of [one, two]) {
    for (const { term: index } of topicWords(data, view, [topic], N_TERMS)) indices.add(index);
  }
  const rows = [...indices].map((index) => {
    const [p, q] = [one, two].map((topic) => corpus.value.phi(view, topic, index));
    return { index, p, q, lean: (p - q) / (p + q || 1) };
  });
  return rows.sort((x, y) => Math.max(y.p, y.q) - Math.max(x.p, x.q)).slice(0, N_TERMS).sort((x, y) => y.lean - x.lean);
}

/** How alike two rows of probabilities are: 1 for equal ones, 0 for nothing in common. */
function overlap(view, one, two) {
  let sum = 0;
  for (let w = 0; w < corpus.value.views[view].n_terms; w += 1) {
    sum += Math.sqrt(corpus.value.phi(view, one, w) * corpus.value.phi(view, two, w));
  }
  return sum;
}

function TwoTopics({ one, two }) {
  const [left, right] = [one, two].map((topic) => slots.value.get(topic));
  return html`
    <${Note}>Words of either topic: bars to the left belong to the first, to the right to the second. Words in the middle are shared.</${Note}>
    ${corpus.value.views.map((view, v) => {
      const rows = contrast(v, one, two);
      const most = Math.max(...rows.map((r) => Math.max(r.p, r.q)), 1e-12);
      return html`
        <h3><bdi>${clip(view.name, 60)}</bdi> <small>${percent(overlap(v, one, two))} alike</small></h3>
        <ol class="butterfly">${rows.map(({ index, p, q }) => html`
          <li key=${index}>
            <span class="half left"><i class=${left === undefined ? "gray" : `c${left}`} style=${{ width: `${(100 * p) / most}%` }}></i></span>
            <span class="word" title=${`${percent(p)} and ${percent(q)}`}><bdi>${clip(corpus.value.term(v, index), 28)}</bdi><span class="sr">: ${percent(p)} and ${percent(q)}</span></span>
            <span class="half"><i class=${right === undefined ? "gray" : `c${right}`} style=${{ width: `${(100 * q) / most}%` }}></i></span>
          </li>`)}</ol>
        ${rows.length === 0 && html`<p class="empty">${noWords(corpus.value.data, v, [one, two])}</p>`}`;
    })}
  `;
}

/** Terms that two documents share, by the smaller of their counts. */
function sharedTerms(view, one, two) {
  const counts = new Map(corpus.value.terms(one, view));
  return corpus.value
    .terms(two, view)
    .filter(([term]) => counts.has(term))
    .map(([term, times]) => [term, Math.min(times, counts.get(term))])
    .sort((x, y) => y[1] - x[1])
    .slice(0, 20);
}

/** How alike two documents are by one view (or all): the shared mass of their topics. */
function likeness(one, two, view) {
  const first = new Map(corpus.value.mixture(one, view, group.value));
  let sum = 0;
  for (const [topic, share] of corpus.value.mixture(two, view, group.value)) sum += Math.min(share, first.get(topic) ?? 0);
  return sum;
}

function TwoDocuments({ one, two }) {
  const { views } = corpus.value;
  return html`
    ${[one, two].map((row) => html`
      <h3 key=${row}><button class="link" onClick=${() => openDocument(row)}><bdi>${corpus.value.title(row)}</bdi></button></h3>
      <${Mixtures} row=${row} />`)}
    <${Note}>How much of their topics two documents share, by each view alone, and the words that both have.</${Note}>
    ${views.map((view, v) => {
      const both = corpus.value.has(one, v) && corpus.value.has(two, v);
      const words = both ? sharedTerms(v, one, two) : [];
      return html`<h3><bdi>${clip(view.name, 60)}</bdi> <small>${both ? `topics ${percent(likeness(one, two, v))} alike` : "not there in both"}</small></h3>
        ${both && html`<p class="chips">${words.length ? words.map(([term, times]) => html`<span class="guess" key=${term}>${clip(corpus.value.term(v, term), 40)}${times > 1 ? html`<small>×${times}</small>` : null}</span> `) : html`<span class="empty">No word in common.</span>`}</p>`}`;
    })}
  `;
}

const choose = (place) => (value) => {
  const now = [...state.compare.value];
  now[place] = `t${value}`;
  if (!now[0]) now[0] = `t${topics.value.find(({ topic }) => `t${topic}` !== now[1])?.topic ?? 0}`;
  state.compare.value = now;
};

/** Topics to compare can be chosen here too; documents come from their own page. */
function Choices() {
  const [one, two] = compared.value;
  const options = topics.value.map(({ topic, name }) => [topic, `${topic} ${clip(name, 50)}`]);
  return html`
    <div class="pair">
      ${[one, two].map((thing, i) => html`
        <${Select} key=${i} plain label=${i === 0 ? "First" : "Second"} value=${thing?.[0] === "t" ? group.value[thing[1]] : ""} options=${[["", "choose a topic"], ...options]} onChange=${(v) => v !== "" && choose(i)(v)} />`)}
    </div>
  `;
}

export function Compare() {
  const [one, two] = compared.value;
  const kind = one?.[0] ?? "t";
  const head = (topic) => html`<button class="link topic" onClick=${() => openTopic(topic)}><${Mark} topic=${topic} /><bdi>${nameOf(topic)}</bdi></button>`;
  return html`
    <header class="head"><h2>Compare</h2></header>
    ${kind === "t" && html`<${Choices} />`}
    ${one && !two && html`<p class="empty">${kind === "t" ? "Choose a second topic." : html`Open another document and choose “Compare”: it will be put beside <b><bdi>${corpus.value.title(one[1])}</bdi></b>.`}</p>`}
    ${!one && html`<p class="empty">Choose two topics here, or open documents and choose “Compare”.</p>`}
    ${two && kind === "t" && html`<p class="versus">${head(group.value[one[1]])}<span>and</span>${head(group.value[two[1]])}</p><${TwoTopics} one=${group.value[one[1]]} two=${group.value[two[1]]} />`}
    ${two && kind === "d" && html`<${TwoDocuments} one=${one[1]} two=${two[1]} />`}
    ${one && html`<button class="small" onClick=${() => (state.compare.value = [])}>Clear</button>`}
  `;
}
