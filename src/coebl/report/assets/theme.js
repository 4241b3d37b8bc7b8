// The theme of a page in a frame: from its address, #dark or #light, or else from the system.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choose = () => { document.documentElement.dataset.theme = location.hash.slice(1) || (dark.matches ? "dark" : "light"); };
  choose();
  addEventListener("hashchange", choose);
  dark.addEventListener("change", choose);
}
