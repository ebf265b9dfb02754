import { copyButton, selectText } from "../base/clipboard.js";
import { element } from "../base/dom.js";

export function commandBox(command) {
  const code = element("code", {}, command);
  return element("div", { class: "command" }, element("pre", { tabindex: "0" }, code), copyButton("Copy", () => command, () => selectText(code)));
}

export function commandSection(command) {
  return element(
    "section",
    { id: "command" },
    element("h2", {}, "Reproduce"),
    element("p", { class: "note" }, "This command, with the same version and seed, gives this page again."),
    commandBox(command),
  );
}
