import { element } from "../base/dom.js";
import { integer } from "../base/format.js";

const FRAME_MILLISECONDS = 120;

function parts(last) {
  return {
    button: element("button", { type: "button", class: "play" }, "Play"),
    slider: element("input", { type: "range", min: 0, max: last, value: 0, step: 1, "aria-label": "Frame" }),
    readout: element("output", {}),
  };
}

// A play button and a slider over frames; follow(f) calls f(frame) at each change.
// A figure that is drawn again follows again: what its finished view was told is harmless.
export function player(frames) {
  const last = frames.length - 1;
  const { button, slider, readout } = parts(last);
  const followers = [];
  let timer = null;
  const frame = () => frames[Number(slider.value)];
  const show = (index) => {
    slider.value = index;
    readout.textContent = `Iteration ${integer(frame().iteration)}`;
    followers.forEach((follower) => follower(frame()));
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  };
  const advance = () => (Number(slider.value) < last ? show(Number(slider.value) + 1) : stop());
  const play = () => {
    if (Number(slider.value) === last) show(0);
    timer = setInterval(advance, FRAME_MILLISECONDS);
    button.textContent = "Pause";
  };
  button.onclick = () => (timer ? stop() : play());
  slider.oninput = () => show(Number(slider.value));
  show(last);
  return { node: element("div", { class: "player" }, button, slider, readout), frame, follow: (follower) => followers.push(follower) };
}
