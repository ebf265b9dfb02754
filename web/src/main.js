import { element } from "./base/dom.js";
import { evaluatePage } from "./pages/evaluate-page.js";
import { reproducePage } from "./pages/reproduce-page.js";
import { runPage } from "./pages/run-page.js";
import { samplePage } from "./pages/sample-page.js";
import { drawAll } from "./figure/figure.js";
import { exportFigures } from "./figure/export-mode.js";
import "./figure/figure-access.js";

const pages = { run: runPage, reproduce: reproducePage, sample: samplePage, evaluate: evaluatePage };

function show(data) {
  const build = pages[data.kind];
  if (!build) throw new Error(`unknown kind of page "${data.kind}"`);
  document.title = `${data.title} – pits`;
  document.body.classList.add(data.kind);
  document.getElementById("page").replaceChildren(...build(data));
  document.getElementById("footer").textContent = `pits ${data.version}`;
  if (location.hash === "#export") exportFigures();
  else drawAll();
}

try {
  show(JSON.parse(document.getElementById("pits-data").textContent));
} catch (error) {
  const message = element("p", { class: "failure" }, `This page's data cannot be read: ${error.message}`);
  document.getElementById("page").replaceChildren(message);
}
