// In place of the theme's own script, which Debian's package has as a module that no page can load from disk: light or dark, as the
// system says until the reader chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
const show = () => (document.body.dataset.theme = localStorage.getItem("theme") || (dark.matches ? "dark" : "light"));
dark.addEventListener("change", show);
show();
// Search shows the sentences around a word by fetching pages, which browsers refuse from disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
document.documentElement.classList.remove("no-js");
for (const button of document.querySelectorAll(".theme-toggle")) {
  button.addEventListener("click", () => {
    localStorage.setItem("theme", document.body.dataset.theme === "dark" ? "light" : "dark");
    show();
  });
}
