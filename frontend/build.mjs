// Bundles the page's code: the same bytes on every machine, so that a test can compare them.
// `node build.mjs` writes into the Python package, `node build.mjs FOLDER` elsewhere.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../src/coview/explorer/static"));

await mkdir(target, { recursive: true });
await build({
  absWorkingDir: here, // names in the output do not depend on where it is called from
  entryPoints: { explorer: "src/main.js" },
  outfile: join(target, "explorer.js"),
  bundle: true,
  minify: true,
  format: "iife", // an inline script; `</script>` in strings is escaped by esbuild
  target: ["chrome100", "firefox113", "safari16.4"], // the first with DecompressionStream
  charset: "utf8",
  legalComments: "none",
  banner: { js: "/* coview explorer; with preact, @preact/signals (MIT), htm (Apache-2.0): licenses.txt */" },
});
await build({
  absWorkingDir: here,
  entryPoints: ["src/explorer.css"],
  outfile: join(target, "explorer.css"),
  minify: true,
  target: ["chrome100", "firefox113", "safari16.4"],
  charset: "utf8",
});

// what is bundled keeps its licenses
const bundled = ["preact", "@preact/signals", "@preact/signals-core", "htm"];
const licenses = await Promise.all(
  bundled.map(async (name) => `${name}\n\n${(await readFile(join(here, "node_modules", name, "LICENSE"), "utf8")).trim()}\n`),
);
await writeFile(join(target, "licenses.txt"), licenses.join("\n\n"));
