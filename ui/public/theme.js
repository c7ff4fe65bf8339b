// The chosen theme, set before the first paint so that nothing flashes. A file of its own because the page allows no
// inline script.
try {
  const theme = localStorage.getItem("switchyard.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme is used.
}
