// element("a", { href: "#x", onclick: f }, "text", child, ...); null children are left out.
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node[name] = value;
    else if (value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return element(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))),
  );
}

// finding: one sentence of what came out, or null
export function header(title, line, pairs, finding = null) {
  const found = finding ? element("p", { class: "finding" }, finding) : null;
  return element("header", {}, element("h1", {}, title), found, element("p", { class: "lead" }, line), facts(pairs));
}

// A wide table scrolls inside its frame, not the page.
export function framedTable(label, ...rows) {
  return element("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": label }, element("table", {}, ...rows));
}

// Many columns are set smaller and may use the page's margins.
export const tableClass = (columns) => (columns.length > 6 ? "wide" : undefined);
