// The left column: the question, its answers, the table of topics and the lists.

import { useState } from "preact/hooks";

import { answers, answerView, askPicture, askView } from "./asking.js";
import { Bar, Choice, Documents, Mark, moveInList, Note, Select, viewOptions } from "./bits.js";
import { clip, count, percent, plural } from "./format.js";
import { html } from "./html.js";
import { Lists } from "./lists.js";
import { corpus, group, level, nameOf, openTopic, shownTopic, slots, state, topics } from "./store.js";

const N_CALLS = 3;
const NOTICED = 0.1; // share of a kind of evidence that is named

const numberOrNull = (text) => (text === "" ? null : Number(text));

function Question() {
  const { views } = corpus.value;
  const view = views[askView.value];
  const like = state.like.value;
  const typed = (event) => {
    state.q.value = event.target.value;
    state.like.value = null;
    if (event.target.value.trim()) state.side.value = "results";
  };
  const pictures = corpus.value.server && view.kind === "pictures";
  return html`
    <form class="question" role="search" onSubmit=${(e) => e.preventDefault()}>
      <div class="asks">
        <${Select} label="Ask in" value=${askView.value} options=${viewOptions()} onChange=${(v) => (state.ask.value = Number(v))} />
        <span class="arrow" aria-hidden="true">→</span>
        <${Select} label="answer by" value=${answerView.value} options=${[...viewOptions(), [views.length, "all views"]]} onChange=${(v) => (state.answer.value = Number(v))} />
      </div>
      ${like !== null && like < corpus.value.n
        ? html`<p class="like">Like <b><bdi>${corpus.value.title(like, 60)}</bdi></b>
            <button class="small" onClick=${() => (state.like.value = null)}>Clear</button></p>`
        : view.recipe || corpus.value.server && !pictures
          ? html`<label class="box"><span class="sr">Search: words of ${view.name}</span>
              <input id="search" type="search" autocomplete="off" spellcheck="false" placeholder=${`Words of ${clip(view.name, 30)} …`} value=${state.q.value} onInput=${typed} /><kbd aria-hidden="true">/</kbd></label>`
          : pictures
            ? html`<label class="box file"><span>A picture</span><input id="search" type="file" accept="image/*" onChange=${(e) => { state.side.value = "results"; askPicture(e.target.files[0]); }} /></label>`
            : html`<p class="note">A page cannot read ${view.name} (${view.no_recipe ?? "it has no recipe"}). Open a document and choose “Search with this document”.</p>`}
      <${Filters} />
    </form>
  `;
}

/** Which documents may answer. */
function Filters() {
  const { docs, views } = corpus.value;
  const active = [state.label, state.within, state.lacks].filter((s) => s.value !== null).length;
  const [open, setOpen] = useState(active > 0);
  return html`
    <details class="filters" open=${open} onToggle=${(e) => setOpen(e.target.open)}>
      <summary>Filters${active ? ` (${active})` : ""}</summary>
      ${docs.labels && docs.label_names?.length > 0 && html`
        <${Select} plain label="Label" value=${state.label.value} options=${[["", "any"], ...docs.label_names.map((name, i) => [i, clip(name, 60)])]} onChange=${(v) => (state.label.value = numberOrNull(v))} />`}
      <${Select} plain label="Topic" value=${state.within.value} options=${[["", "any"], ...topics.value.map(({ topic, name }) => [topic, `${topic} ${clip(name, 50)}`])]} onChange=${(v) => (state.within.value = numberOrNull(v))} />
      ${views.length > 1 && html`
        <${Select} plain label="Lacks" value=${state.lacks.value} options=${[["", "any"], ...viewOptions()]} onChange=${(v) => (state.lacks.value = numberOrNull(v))} />`}
    </details>
  `;
}

/** One kind of evidence in words: "eigenvalues → eigs, eigvals". */
function reasonOf({ kind, topic, calls }) {
  if (kind === "map") return "a similar place";
  if (kind === "topics") return html`topic <bdi>${clip(nameOf(group.value[topic]), 40)}</bdi>`;
  if (kind === "names") return html`same words: <bdi>${calls.slice(0, N_CALLS).map(([word]) => clip(word, 30)).join(", ")}</bdi>`;
  return html`<bdi>${calls.slice(0, N_CALLS).map(([word, found]) => `${clip(word, 30)} → ${found.map((name) => clip(name, 30)).join(", ")}`).join("; ")}</bdi>`;
}

/** Why a document was found: the kinds of evidence that say most, the first one first. */
function Why({ why }) {
  if (!why) return null; // a server gives reasons for the first answers
  if (why.length === 0) return "no evidence";
  return why.filter(({ share }) => share >= NOTICED).map((reason, i) => html`${i ? " · " : ""}<span title=${`${percent(reason.share)} of what speaks for it`}>${reasonOf(reason)}</span>`);
}

function Results() {
  const { list, asked, leftOut, reason } = answers.value;
  const { meta, server } = corpus.value;
  if (!asked) {
    return html`<p class="empty">Type a few words above, or open a document and choose “Search with this document”. The question is asked in one view and answered by another.</p>`;
  }
  const of = Object.fromEntries(list.map((hit) => [hit.row, hit]));
  return html`
    <div aria-live="polite">
      <${Note}>${plural(list.length, "best answer")} by ${corpus.value.views[answerView.value]?.name ?? "all views"}; the number is the probability that this is the document asked for, below stands why.
        ${!meta.search.complete && !server && html` The page has not all words of the documents, so that it differs a little from Python’s.`}</${Note}>
      ${leftOut && html`<p class="warn">Left out: <bdi>${leftOut}</bdi>.</p>`}
      ${reason && html`<p class="warn">${reason}</p>`}
    </div>
    <${Documents} label="Answers" view=${answerView.value} rows=${list.map(({ row }) => row)} value=${(row) => percent(of[row]?.score)} why=${(row) => html`<${Why} why=${of[row]?.why} />`} empty="No document answers this." />
  `;
}

const MOST_ROWS = 200;

const COLUMNS = {
  size: (row) => -row.size,
  name: (row) => row.name.toLowerCase(),
  agreement: (row) => (Number.isFinite(row.agreement) ? row.agreement : 2),
};

/** All topics as a table, which is the way of a screen reader. */
function Topics() {
  const [by, setBy] = useState("size");
  const [text, setText] = useState("");
  const [shown, show] = useState(MOST_ROWS);
  const { views } = corpus.value;
  const wanted = text.trim().toLowerCase();
  const rows = topics.value.filter((row) => !wanted || row.name.toLowerCase().includes(wanted) || String(row.topic) === wanted);
  const key = COLUMNS[by];
  rows.sort((x, y) => (key(x) < key(y) ? -1 : key(x) > key(y) ? 1 : x.topic - y.topic));
  const largest = Math.max(...topics.value.map((row) => row.size), 1e-9);
  const widest = Math.max(...topics.value.flatMap((row) => row.share.filter(Number.isFinite)), 1e-9);
  const agree = rows.some((row) => Number.isFinite(row.agreement));
  const parts = by === "size" && !wanted && level.value ? level.value : null;
  if (parts) rows.sort((x, y) => parts.members[x.topic] - parts.members[y.topic]); // stable: by size within
  const heads = (i) => parts && (i === 0 || parts.members[rows[i].topic] !== parts.members[rows[i - 1].topic]);
  const Head = ({ column, children }) => html`
    <th scope="col" aria-sort=${by === column ? (column === "size" ? "descending" : "ascending") : "none"}>
      <button class="link" onClick=${() => setBy(column)}>${children}${by === column ? html`<span aria-hidden="true"> ▾</span>` : null}</button></th>`;
  return html`
    <${Note}>What the documents are about. The small bars say in which view it shows most${agree ? ", “Agree” says in how many of its documents the views agree" : ""}.</${Note}>
    ${topics.value.length > 12 && html`<label class="box slim"><span class="sr">Find a topic by name</span><input type="search" placeholder="Find a topic …" value=${text} onInput=${(e) => setText(e.target.value)} /></label>`}
    <table class="topics" onKeyDown=${moveInList}>
      <caption class="sr">Topics: size, name, share of each view, agreement</caption>
      <thead><tr>
        <${Head} column="name">Topic</${Head}><${Head} column="size">Size</${Head}>
        ${views.length > 1 && html`<th scope="col"><span title=${views.map((v) => v.name).join(" | ")}>Views</span></th>`}
        ${agree && html`<${Head} column="agreement">Agree</${Head}>`}
      </tr></thead>
      <tbody>
        ${rows.slice(0, shown).map((row, i) => html`
          ${heads(i) && html`<${PartHead} level=${parts} part=${parts.members[row.topic]} slot=${slots.value.get(row.topic)} />`}
          <tr key=${row.topic} class=${row.topic === shownTopic.value ? "chosen" : ""}>
            <th scope="row"><button data-entry class="link topic" aria-current=${row.topic === shownTopic.value ? "true" : undefined} onClick=${() => openTopic(row.topic)}><${Mark} topic=${row.topic} /><bdi>${clip(row.name, 60)}</bdi></button></th>
            <td class="size"><${Bar} share=${row.size / largest} slot=${slots.value.get(row.topic)} text=${percent(row.size)} /></td>
            ${views.length > 1 && html`<td><${ViewShares} shares=${row.share} largest=${widest} /></td>`}
            ${agree && html`<td class="n">${percent(row.agreement)}</td>`}
          </tr>`)}
      </tbody>
    </table>
    ${rows.length > shown && html`<button class="small more" onClick=${() => show(rows.length)}>Show all ${count(rows.length)} topics</button>`}
    ${rows.length === 0 && html`<p class="empty">No topic has this name.</p>`}
  `;
}

/** The line above the topics that are part of one coarser topic. */
const PartHead = ({ level: { names, sizes }, part, slot }) => html`
  <tr key=${`part ${part}`} class="part"><th scope="rowgroup" colspan="4">
    <i class=${`dot ${slot === undefined ? "gray" : `c${slot}`}`} aria-hidden="true"></i>${part} <bdi>${clip(names[part], 60)}</bdi> <small>${percent(sizes[part])}</small></th></tr>`;

/** A tiny column for each view; the numbers for those who do not see it. */
const ViewShares = ({ shares, largest }) => {
  const { views } = corpus.value;
  const text = views.map((view, v) => `${view.name} ${percent(shares[v])}`).join(", ");
  return html`<span class="shares" title=${text}><span class="sr">${text}</span>
    ${shares.map((share) => html`<i aria-hidden="true" style=${{ height: `${Math.round(100 * Math.min(1, (share || 0) / largest))}%` }}></i>`)}</span>`;
};

export function Finding() {
  const sides = [["topics", `Topics ${count(topics.value.length)}`], ["results", answers.value.asked ? `Answers ${answers.value.list.length}` : "Answers"], ["lists", "Lists"]];
  return html`
    <section class="find" aria-label="Find">
      <${Question} />
      <${Choice} label="What to list" class="tabs" value=${state.side.value} options=${sides} onChange=${(key) => (state.side.value = key)} />
      <div class="scroll" tabindex="0" role="region" aria-label="What is listed">
        ${state.side.value === "topics" && html`<${Topics} />`}
        ${state.side.value === "results" && html`<${Results} />`}
        ${state.side.value === "lists" && html`<${Lists} />`}
      </div>
    </section>
  `;
}
