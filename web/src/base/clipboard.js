import { element } from "./dom.js";

export function selectText(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  window.getSelection().removeAllRanges();
  window.getSelection().addRange(range);
}

// The clipboard may be closed to a page opened from a file: select(text) then
// leaves the text selected for the reader to copy.
export function copyButton(name, text, select) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      select(text());
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = name), 1500);
  };
  const button = element("button", { type: "button", onclick: copy }, name);
  return button;
}
