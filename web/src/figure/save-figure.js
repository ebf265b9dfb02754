import { vega, vegaLite } from "vega-embed";
import { element } from "../base/dom.js";
import { csv, save } from "../base/download.js";
import { fixWidth } from "./fit-width.js";
import { clickableLegend } from "./legend.js";
import { vegaConfig } from "../base/theme.js";

const WIDTH = 720;
const PIXEL_RATIO = 3;

// A figure outside the page: its title over it, and the legend that the page shows once for many.
async function standaloneView({ spec, mode, title, fullTitle, agents }) {
  const config = vegaConfig();
  const text = { text: fullTitle ?? title, anchor: "start", fontSize: 16, fontWeight: 600, offset: 14, color: config.axis.titleColor };
  const given = { ...spec(true), title: text, padding: 12 };
  const compiled = mode === "vega" ? given : vegaLite.compile(given, { config }).spec;
  const patched = fixWidth(compiled, WIDTH);
  const runtime = vega.parse(agents ? clickableLegend(patched) : patched, mode === "vega" ? config : undefined);
  return new vega.View(runtime, { renderer: "none" }).runAsync();
}

async function withView(figure, use) {
  const view = await standaloneView(figure);
  try {
    return await use(view);
  } finally {
    view.finalize();
  }
}

const figureCanvas = (figure) => withView(figure, (view) => view.toCanvas(PIXEL_RATIO));
export const figureImage = async (figure) => (await figureCanvas(figure)).toDataURL("image/png");

const FORMATS = {
  svg: { type: "image/svg+xml", content: (figure) => withView(figure, (view) => view.toSVG()) },
  png: {
    type: "image/png",
    content: async (figure) => {
      const canvas = await figureCanvas(figure);
      return new Promise((done) => canvas.toBlob(done, "image/png"));
    },
  },
  csv: { type: "text/csv", content: async (figure) => csv(figure.rows()) },
};

export const figureContent = (figure, format) => FORMATS[format].content(figure);

export function saveButtons(figure) {
  const buttons = Object.entries(FORMATS).map(([format, { type, content }]) => {
    const onclick = async () => save(`${figure.id}.${format}`, await content(figure), type);
    return element("button", { type: "button", onclick, "aria-label": `Save ${figure.title} as ${format.toUpperCase()}` }, format.toUpperCase());
  });
  return element("div", { class: "save" }, buttons);
}
