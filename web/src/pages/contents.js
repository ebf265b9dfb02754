import { element } from "../base/dom.js";

// parts: [{ id, title, short, parts }] of the page, two levels deep
function entry({ id, title, short, parts }) {
  const inner = parts?.length > 1 ? element("ol", {}, parts.map(entry)) : null;
  return element("li", {}, element("a", { href: `#${id}`, title }, short ?? title), inner);
}

// The link of the last section that begins above a third of the window is the current one.
function follow(nav) {
  const links = [...nav.querySelectorAll("a")];
  const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
  const line = window.innerHeight / 3;
  const current = targets.findLastIndex((target) => target && target.getBoundingClientRect().top < line);
  links.forEach((link, i) => (i === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  const box = links[current]?.closest("nav > ol > li");
  if (box && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = box.offsetLeft - nav.clientWidth / 3;
}

export function contents(parts) {
  const nav = element("nav", { class: "contents", "aria-label": "Contents" }, element("ol", {}, parts.map(entry)));
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      follow(nav);
    });
  };
  window.addEventListener("scroll", later, { passive: true });
  later();
  return nav;
}
