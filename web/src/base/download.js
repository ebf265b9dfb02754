import { element } from "./dom.js";

const cell = (value) => {
  const text = value === undefined || value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

// rows: [[...], ...], the first is the head
export const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";

export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A table's head and rows from records: columns is { name: (record) => value }.
export const records = (columns, list) => [Object.keys(columns), ...list.map((record) => Object.values(columns).map((value) => value(record)))];

const SUMMARY = {
  agent: (s) => s.agent,
  environment: (s) => s.env,
  normalized_regret_mean: (s) => s.normalized_regret?.mean,
  normalized_regret_std: (s) => s.normalized_regret?.std,
  normalized_regret_se: (s) => s.normalized_regret?.se,
  normalized_regret_median: (s) => s.normalized_regret?.median,
  regret_mean: (s) => s.regret?.mean,
  regret_std: (s) => s.regret?.std,
  regret_se: (s) => s.regret?.se,
  seconds: (s) => s.seconds,
};

export const csvButton = (name, rows) =>
  element("button", { type: "button", class: "csv", onclick: () => save(`${name}.csv`, csv(rows()), "text/csv") }, "Download CSV");

export const summaryButton = (name, summary) => csvButton(name, () => records(SUMMARY, summary));
