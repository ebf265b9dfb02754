import { toggleAgent } from "../base/visibility.js";

const DIM = [{ test: "indexof(hidden, datum.value) >= 0", value: 0.25 }, { value: 1 }];

// Patches a compiled Vega specification: its legend's entries take clicks and
// are dimmed while their agent is hidden.
export function clickableLegend(spec) {
  for (const legend of spec.legends ?? []) {
    for (const part of ["symbols", "labels"]) {
      const encode = (legend.encode ??= {});
      const update = { ...encode[part]?.update, opacity: DIM, cursor: { value: "pointer" } };
      encode[part] = { ...encode[part], interactive: true, update };
    }
  }
  return spec;
}

export function listenToLegend(view) {
  view.addEventListener("click", (_, item) => {
    if (["legend-symbol", "legend-label"].includes(item?.mark?.role)) toggleAgent(item.datum.value);
  });
}
