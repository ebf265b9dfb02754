import { element } from "./dom.js";

function selectText(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  window.getSelection().removeAllRanges();
  window.getSelection().addRange(range);
}

// The clipboard may be closed to a page opened from a file; the text is then left selected.
async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    selectText(code);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

export function commandSection(command) {
  const code = element("code", {}, command);
  const button = element("button", { type: "button", onclick: () => copy(code, button) }, "Copy");
  return element(
    "section",
    { id: "command" },
    element("h2", {}, "Reproduce"),
    element("p", { class: "note" }, "This command, with the same version and seed, gives this page again."),
    element("div", { class: "command" }, element("pre", { tabindex: "0" }, code), button),
  );
}
