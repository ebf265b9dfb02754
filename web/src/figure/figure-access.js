import { drawAll, figures } from "./figure.js";
import { figureContent } from "./save-figure.js";

const find = (id) => {
  const found = figures.find((figure) => figure.id === id);
  if (!found) throw new Error(`no figure "${id}" on this page`);
  return found;
};

async function dataUrl(blob) {
  const reader = new FileReader();
  await new Promise((done) => ((reader.onload = done), reader.readAsDataURL(blob)));
  return reader.result;
}

// For scripts that drive the page.
window.pitsFigures = {
  ids: () => figures.map(({ id }) => id),
  ready: () => drawAll(figures.filter(({ node }) => node.dataset.state === "waiting")),
  svg: async (id) => figureContent(find(id), "svg"),
  png: async (id) => dataUrl(await figureContent(find(id), "png")),
  csv: async (id) => figureContent(find(id), "csv"),
};
