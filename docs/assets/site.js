// A picture that is clicked fills the window; a click or Escape closes it.
document.addEventListener("click", ({ target }) => {
  if (target.matches(".md-typeset img:not(a img)")) target.classList.toggle("large");
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") document.querySelectorAll("img.large").forEach((image) => image.classList.remove("large"));
});
