// The colours of the figures are the custom properties of page.css.
const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
const narrowScreen = window.matchMedia("(max-width: 720px)");

export const SERIES_COLOURS = 10;
export const RAMP_COLOURS = 6;

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const isNarrow = () => narrowScreen.matches;

export function onThemeChange(listener) {
  darkScheme.addEventListener("change", listener);
  narrowScreen.addEventListener("change", listener);
}

const text = (part) => ({ [`${part}Color`]: colour("text"), [`${part}FontSize`]: 13, [`${part}FontWeight`]: 400 });

export function vegaConfig() {
  return {
    background: colour("surface"),
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    mark: { color: colour("series-0") },
    axis: {
      ...text("title"),
      titlePadding: 10,
      labelColor: colour("muted"),
      labelFontSize: 12,
      labelPadding: 6,
      gridColor: colour("grid"),
      domainColor: colour("muted"),
      tickColor: colour("muted"),
      ticks: false,
      domain: false,
    },
    legend: { ...text("title"), ...text("label"), layout: { bottom: { anchor: "start", bounds: "full" } } },
  };
}
