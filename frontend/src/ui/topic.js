// The right column on one topic: its words in every view side by side, documents and labels.

import { useState } from "preact/hooks";

import { noWords, topicWords } from "../core/words.js";
import { Bar, CompareButton, Documents, Mark, Note } from "./bits.js";
import { clip, percent, plural, score } from "./format.js";
import { html } from "./html.js";
import { corpus, group, nameOf, openTopic, shownTopic, slots, state, topics } from "./store.js";

const N_TERMS = 14;

const membersOf = (topic) => topics.value.find((row) => row.topic === topic)?.members ?? [topic];

/** A word; pointing at it, or a click, shows what it calls for in the other views. */
function TopicWord({ view, term, name }) {
  const [open, setOpen] = useState(false);
  const calls = corpus.value.calls(view, term);
  const word = html`<bdi>${clip(name, 40)}</bdi>`;
  if (!calls) return html`<span class="word" title=${clip(name, 200)}>${word}</span>`;
  return html`<span class="word">
    <button class="link" title=${calls} aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${word}</button>
    ${open && html`<small class="calls" dir="auto">${calls}</small>`}</span>`;
}

/** The words of a topic in one view. */
export function Terms({ view, topic }) {
  const { data } = corpus.value;
  const terms = topicWords(data, view, membersOf(topic), N_TERMS);
  const most = Math.max(...terms.map((t) => t.documents), 1e-12);
  return html`
    <div class="terms">
      <h3><bdi>${corpus.value.views[view].name}</bdi></h3>
      <ol>${terms.map(({ term, name, documents }) => html`
        <li key=${term}><${TopicWord} view=${view} term=${term} name=${name} />
          <${Bar} share=${documents / most} slot=${slots.value.get(topic)} /></li>`)}</ol>
      ${terms.length === 0 && html`<p class="empty">${noWords(data, view, membersOf(topic))}</p>`}
    </div>
  `;
}

/** Numbers of a topic that say whether it is any good. */
function Facts({ row }) {
  const { views, topics: all } = corpus.value;
  const { stability, coherence } = all[row.topic];
  const known = (x) => x !== null && x !== undefined && Number.isFinite(x);
  return html`
    <dl class="facts">
      <div><dt>Size</dt><dd>${percent(row.size)}</dd></div>
      ${known(row.agreement) && html`<div><dt>Views agree</dt><dd>${percent(row.agreement)}</dd></div>`}
      ${known(stability) && html`<div><dt>Stability</dt><dd>${score(stability)}</dd></div>`}
      ${views.map((view, v) => html`
        <div key=${v}><dt><bdi>${clip(view.name, 24)}</bdi></dt><dd>${percent(row.share[v])}${known(coherence?.[view.name]) ? html` <small>coherence ${score(coherence[view.name])}</small>` : null}</dd></div>`)}
    </dl>
  `;
}

/** Classes of the topic's documents. */
function Labels({ members }) {
  const { topics: all } = corpus.value;
  const shares = new Map();
  const total = members.reduce((sum, t) => sum + all[t].size, 0) || 1;
  for (const t of members) {
    for (const [label, share] of Object.entries(all[t].labels ?? {})) {
      shares.set(label, (shares.get(label) ?? 0) + (share * all[t].size) / total);
    }
  }
  const list = [...shares].sort((x, y) => y[1] - x[1]).slice(0, 8);
  if (list.length === 0) return null;
  return html`<h3>Labels</h3><ul class="labels">${list.map(([label, share]) => html`
    <li key=${label}><span class="word"><bdi>${clip(label, 40)}</bdi></span><${Bar} share=${share} /></li>`)}</ul>`;
}

/** The coarser topics that a topic is part of, the nearest first. */
const partOf = (topic) =>
  corpus.value.levels.map(({ names, members }) => `part of ${members[topic]} ${names[members[topic]]} (of ${plural(names.length, "topic")})`);

export function Topic() {
  const topic = shownTopic.value;
  const row = topics.value.find((r) => r.topic === topic);
  if (!row) return html`<${Start} />`;
  const documents = corpus.value.documentsOf(topic, group.value);
  const share = new Map(documents);
  const step = (by) => {
    const at = topics.value.indexOf(row);
    const next = topics.value[(at + by + topics.value.length) % topics.value.length];
    openTopic(next.topic);
  };
  return html`
    <header class="head">
      <h2><${Mark} topic=${topic} /><bdi>${nameOf(topic)}</bdi></h2>
      ${partOf(topic).map((text) => html`<p class="part"><bdi>${text}</bdi></p>`)}
      <p>Topic ${topic}${row.members.length > 1 ? `, merged with ${row.members.filter((t) => t !== topic).join(", ")}` : ""} · ${plural(row.members.reduce((sum, t) => sum + (corpus.value.topics[t].n_docs ?? 0), 0), "document")}</p>
      <div class="actions">
        <button class="small" onClick=${() => step(-1)} aria-label="Previous topic">‹</button>
        <button class="small" onClick=${() => step(1)} aria-label="Next topic">›</button>
        <${CompareButton} thing=${`t${topic}`} name="this topic" />
        <button class="small" onClick=${() => (state.panel.value = "curate")}>Rename …</button>
        <button class="small" aria-pressed=${String(state.within.value === topic)} onClick=${() => (state.within.value = state.within.value === topic ? null : topic)}>Search only here</button>
      </div>
    </header>
    <${Facts} row=${row} />
    <${Note}>The same topic in every view, side by side; bars are the documents of the topic that have a word. Below a view’s name: how much of what sets the topic apart is in that view.</${Note}>
    <div class="sides">${corpus.value.views.map((_, v) => html`<${Terms} key=${v} view=${v} topic=${topic} />`)}</div>
    <${Labels} members=${row.members} />
    <h3>Documents</h3>
    <${Documents} label="Documents of the topic" rows=${documents.map(([r]) => r)} value=${(r) => percent(share.get(r))} />
  `;
}

/** What stands here before anything was chosen: is the model any good? */
function Start() {
  const { meta, views } = corpus.value;
  const sentences = Object.entries(meta.model.sentences ?? {});
  return html`
    <header class="head"><h2><bdi>${meta.title}</bdi></h2>
      <p>${plural(meta.n_docs, "document")}, ${plural(meta.n_topics, "topic")}, ${plural(views.length, "view")} · ${meta.model.class}</p></header>
    <p>Choose a topic in the table, a point on the map, or search. Everything that you see here can be sent as a link.</p>
    <h3>Views</h3>
    <ul class="labels">${views.map((view) => html`<li key=${view.name}><span class="word"><bdi>${clip(view.name, 40)}</bdi></span><${Bar} share=${view.coverage} text=${`${percent(view.coverage)} have it`} /></li>`)}</ul>
    ${sentences.length > 0 && html`<h3>Is it any good?</h3>
      <dl class="sentences">${sentences.map(([key, text]) => html`<div key=${key}><dt>${clip(key.replaceAll("_", " "), 80)}</dt><dd>${text}</dd></div>`)}</dl>`}
    ${(meta.notes ?? []).map((text) => html`<p class="note">${text}</p>`)}
  `;
}
