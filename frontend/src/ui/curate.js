// The right column for names, merges and hidden topics, and the file that coview reads back.

import { useState } from "preact/hooks";

import { collisions, fromJSON, hide, merge, rename, split, toJSON } from "../core/curation.js";
import { Note, Select } from "./bits.js";
import { clip } from "./format.js";
import { html } from "./html.js";
import { corpus, curate, curation, history_, nameOf, shownTopic, state, topics, undo } from "./store.js";

/** Save a text under a name, without any server. */
function download(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Put a text on the clipboard; true if that was allowed. */
async function copied(text, area) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    area?.select();
    return document.execCommand?.("copy") ?? false;
  }
}

/** One topic: its name to change, what to merge it with, hide. */
function Entry({ topic, members }) {
  const [other, setOther] = useState("");
  const options = topics.value.filter((row) => row.topic !== topic).map((row) => [row.topic, `${row.topic} ${clip(row.name, 40)}`]);
  const change = (event) => {
    const name = event.target.value.trim();
    const own = corpus.value.topicName(topic);
    if (name !== nameOf(topic)) curate(rename(curation.value, topic, name === own ? "" : name));
  };
  return html`
    <div class="entry">
      <label class="field"><span>Name of topic ${topic}</span>
        <input type="text" maxlength="200" dir="auto" value=${nameOf(topic)} key=${nameOf(topic)} onChange=${change} /></label>
      <div class="pair">
        <${Select} plain label="Merge with" value=${other} options=${[["", "choose a topic"], ...options]} onChange=${setOther} />
        <button class="small" disabled=${other === ""} onClick=${() => { curate(merge(curation.value, [topic, Number(other)])); setOther(""); }}>Merge</button>
      </div>
      <div class="actions">
        ${members.length > 1 && html`<button class="small" onClick=${() => curate(split(curation.value, topic))}>Take apart (${members.join(" + ")})</button>`}
        <button class="small" onClick=${() => curate(hide(curation.value, topic))}>Hide this topic</button>
      </div>
    </div>
  `;
}

/** What was changed so far, each with a way back. */
function Changes() {
  const { names, merge: merged, hide: gone } = curation.value;
  const line = (key, text, undoIt) => html`<li key=${key}><span>${text}</span><button class="small" onClick=${undoIt}>Revert</button></li>`;
  const lines = [
    ...Object.entries(names).map(([t, name]) => line(`n${t}`, html`Topic ${t} is called <b><bdi>${clip(name, 60)}</bdi></b>`, () => curate(rename(curation.value, Number(t), "")))),
    ...merged.map((members) => line(`m${members[0]}`, `Topics ${members.join(", ")} are one`, () => curate(split(curation.value, members[0])))),
    ...gone.map((t) => line(`h${t}`, html`Topic ${t} (<bdi>${clip(nameOf(t), 40)}</bdi>) is hidden`, () => curate(hide(curation.value, t, false)))),
  ];
  return lines.length ? html`<ul class="changes">${lines}</ul>` : html`<p class="empty">Nothing yet.</p>`;
}

/** The file: to take with you, or to bring one back. */
function File() {
  const [said, say] = useState("");
  const text = toJSON(corpus.value.data, curation.value);
  const read = (input) => {
    try {
      curate(fromJSON(corpus.value.data, input));
      say("Read.");
    } catch (error) {
      say(error.message);
    }
  };
  const open = async ({ target }) => {
    const [file] = target.files;
    if (file) read(await file.text());
    target.value = ""; // so that the same file can be opened again
  };
  return html`
    <h3>File</h3>
    <${Note}>Give it to coview: <code>model.with_topics("curation.json")</code>.</${Note}>
    <label class="field"><span class="sr">The curation as JSON</span><textarea id="curation" readonly rows="6" spellcheck="false" value=${text}></textarea></label>
    <div class="actions">
      <button class="small" onClick=${() => download(text, "curation.json")}>Download</button>
      <button class="small" onClick=${async () => say((await copied(text, document.getElementById("curation"))) ? "Copied." : "Select the text and copy it.")}>Copy</button>
      <label class="small file">Open …<input type="file" accept=".json,application/json" onChange=${open} /></label>
    </div>
    <p class="total" role="status">${said}</p>
  `;
}

export function Curate() {
  const chosen = topics.value.find((row) => row.topic === shownTopic.value) ?? topics.value[0];
  const [picked, pick] = useState(null);
  const row = topics.value.find((r) => r.topic === picked && picked !== null) ?? chosen;
  const twice = collisions(curation.value, corpus.value.topics.map((_, t) => corpus.value.topicName(t)));
  return html`
    <header class="head"><h2>Curate</h2>
      <div class="actions">
        <button class="small" disabled=${history_.value.length === 0} onClick=${undo}>Undo</button>
        <button class="small" disabled=${state.curation.value === null} onClick=${() => curate(null)}>Start again</button>
      </div></header>
    <${Note}>Give topics names, merge those that are one, hide what is noise. It is shown everywhere at once, kept in the link, and coview reads it back.</${Note}>
    ${row && html`
      <${Select} plain label="Topic" value=${row.topic} options=${topics.value.map((r) => [r.topic, `${r.topic} ${clip(r.name, 50)}`])} onChange=${(v) => pick(Number(v))} />
      <${Entry} key=${row.topic} ...${row} />`}
    ${twice.map(([a, b, name]) => html`<p class="warn">Topics ${a} and ${b} are both called <bdi>${clip(name, 60)}</bdi>: coview will want different names.</p>`)}
    <h3>Changes</h3>
    <${Changes} />
    <${File} />
  `;
}
