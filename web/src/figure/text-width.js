const context = document.createElement("canvas").getContext("2d");

// Pixels that the longest of the texts takes in the page's font.
export function textWidth(texts, size) {
  context.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return Math.max(...texts.map((text) => context.measureText(text).width));
}
