import { figures } from "./figure.js";
import { element } from "../base/dom.js";
import { figureContent, figureImage } from "./save-figure.js";

// PAGE.html#export: every figure as SVG and PNG in one script element, for a browser that only dumps the page's tree
// (chromium --headless --dump-dom). `<` is escaped, so that the serialised page can be cut at the element's tags.
export async function exportFigures() {
  const list = [];
  for (const figure of figures) list.push({ id: figure.id, svg: await figureContent(figure, "svg"), png: await figureImage(figure) });
  const text = JSON.stringify(list).replaceAll("<", "\\u003c");
  document.body.append(element("script", { type: "application/json", id: "pits-figures" }, text));
}
