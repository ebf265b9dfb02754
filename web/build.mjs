// Bundles src/ with Vega into one HTML file: node build.mjs [OUT.html]
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licences } from "./licences.mjs";

const MARKER = "__PITS_DATA__";
const root = fileURLToPath(new URL(".", import.meta.url));
const source = (name) => `${root}src/${name}`;

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [source(entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    metafile: true,
    absWorkingDir: root,
    ...options,
  });
  return { text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs) };
}

async function page() {
  const skeleton = await readFile(source("page.html"), "utf8");
  const css = await bundle("page.css", { loader: { ".css": "css" } });
  const script = await bundle("main.js", { format: "iife", platform: "browser", target: "es2020" });
  // An HTML parser ends the script at the first "</script" and is confused by
  // "<!--", even inside a string.
  const safe = script.text.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
  const notices = await licences(script.inputs.map((path) => root + path));
  // Function replacers: a "$" in the bundle is not a replacement pattern.
  return skeleton
    .replace("/* page.css */", () => css.text)
    .replace("/* main.js */", () => safe)
    .replace("<!-- licences -->", () => `<!--\n${notices}\n-->`);
}

const out = resolve(process.argv[2] ?? `${root}dist/page.html`);
const html = await page();
if (html.split(MARKER).length !== 2) throw new Error(`the page must hold ${MARKER} exactly once`);
await mkdir(dirname(out), { recursive: true });
await writeFile(out, html);
console.log(`${out}: ${(Buffer.byteLength(html) / 1024).toFixed(0)} KiB`);
