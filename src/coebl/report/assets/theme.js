// The theme of a page in a frame: the one in its URL, #dark or #light, or else the system's.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choose = () => { document.documentElement.dataset.theme = location.hash.slice(1) || (dark.matches ? "dark" : "light"); };
  choose();
  addEventListener("hashchange", choose);
  dark.addEventListener("change", choose);
}
