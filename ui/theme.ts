// The theme: light, dark, or as the system has it. The choice is kept in this browser; `public/theme.js` applies it
// before the first paint.

import { signal } from "./signal.ts";

export type Theme = "system" | "light" | "dark";

/** The same name as in `public/theme.js`. */
const PLACE = "switchyard.theme";

/** Starts with what `public/theme.js` has set. */
export const theme = signal<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "system");

/** Applies a theme at once and keeps it. Without the attribute the style sheet follows the system. */
export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(PLACE, next);
  } catch {
    // A browser without storage keeps the choice until the page is left.
  }
}
