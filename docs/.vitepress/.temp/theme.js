// The chosen theme and the platform, set before the first paint so that nothing flashes. A file of its own because the
// gateway's content policy allows no inline script.
try {
  const chosen = localStorage.getItem("vitepress-theme-appearance") || "auto";
  const isDark = chosen === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
  document.documentElement.classList.toggle("dark", isDark);
} catch {
  // Without storage the light theme is used.
}
document.documentElement.classList.toggle("mac", /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
