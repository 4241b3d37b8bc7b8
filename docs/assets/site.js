// A picture that is clicked fills the window; a click or Escape closes it.
document.addEventListener("click", ({ target }) => {
  if (target.matches(".md-typeset img:not(a img)")) target.classList.toggle("large");
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") document.querySelectorAll("img.large").forEach((image) => image.classList.remove("large"));
});
// Replays and the stepper have the theme of the page around them.
const recolour = () => document.querySelectorAll("iframe").forEach((frame) => {
  frame.src = `${frame.src.split("#")[0]}#${document.body.dataset.mdColorScheme === "slate" ? "dark" : "light"}`;
});
new MutationObserver(recolour).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
recolour();
// On a phone the triangles of a replay are below each other, and a frame is as high as what it shows.
document.querySelectorAll("iframe").forEach((frame) => frame.addEventListener("load", () => {
  const { body } = frame.contentDocument;
  new ResizeObserver(() => {
    if (innerWidth < 720) frame.style.height = `${Math.ceil(body.getBoundingClientRect().bottom) + 12}px`;
  }).observe(body);
}));
