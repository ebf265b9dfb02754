// Bundles src/ into HTML files: FOLDER/page.html, the template of reports, with Vega, and FOLDER/service.html, the page of
// the service, without it: node build.mjs [FOLDER]
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
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

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// What a page may do: run its own script, use its own style, and ask the service that it came from.
const policy = (script, css) =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(script)}; style-src ${hash(css)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'">`;

async function page(folder) {
  const skeleton = await readFile(source(`${folder}page.html`), "utf8");
  const css = await bundle(`${folder}page.css`, { loader: { ".css": "css" } });
  const script = await bundle(`${folder}main.js`, { format: "iife", platform: "browser", target: "es2020" });
  // An HTML parser ends the script at the first "</script" and is confused by
  // "<!--", even inside a string.
  const safe = script.text.replace(/<\/script/gi, "<\\/script").replace(/<!--/g, "<\\!--");
  const notices = await licences(script.inputs.map((path) => root + path));
  // Function replacers: a "$" in the bundle is not a replacement pattern.
  return skeleton
    .replace("<!-- policy -->", () => policy(safe, css.text))
    .replace("/* page.css */", () => css.text)
    .replace("/* main.js */", () => safe)
    .replace("<!-- licences -->", () => (notices ? `<!--\n${notices}\n-->` : ""));
}

const out = resolve(process.argv[2] ?? `${root}dist`);
const pages = { page: await page(""), service: await page("serve/") };
if (pages.page.split(MARKER).length !== 2) throw new Error(`the page must hold ${MARKER} exactly once`);
await mkdir(out, { recursive: true });
for (const [name, html] of Object.entries(pages)) {
  await writeFile(`${out}/${name}.html`, html);
  console.log(`${out}/${name}.html: ${(Buffer.byteLength(html) / 1024).toFixed(0)} KiB`);
}
