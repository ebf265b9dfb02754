import { readdir, readFile } from "node:fs/promises";

// Folder of the package that a bundled file belongs to, as "…/node_modules/vega/".
const packageFolder = (path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+\//)?.[0];

async function licenceOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  return { name: `${name} ${version}`, text: file ? (await readFile(folder + file, "utf8")).trim() : `Licence: ${license}` };
}

// The licences of all packages in the bundle as one text, equal ones given once.
export async function licences(inputs) {
  const folders = [...new Set(inputs.map(packageFolder).filter(Boolean))].sort();
  const names = new Map();
  for (const { name, text } of await Promise.all(folders.map(licenceOf))) names.set(text, [...(names.get(text) ?? []), name]);
  return [...names].map(([text, holders]) => `${holders.join(", ")}\n\n${text}`).join("\n\n\n").replaceAll("--", "- -");
}
