import { element } from "./dom.js";

const cell = (value) => {
  const text = value === undefined || value === null ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const COLUMNS = {
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

export function csvButton(summary) {
  const rows = () => [Object.keys(COLUMNS), ...summary.map((s) => Object.values(COLUMNS).map((value) => value(s)))];
  return element("button", { type: "button", class: "csv", onclick: () => save("pits-regret.csv", csv(rows())) }, "Download CSV");
}
