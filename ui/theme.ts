// Light, dark, or as the system has it; remembered in this browser.

import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const PLACE = "switchyard.theme";

export const theme = signal<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "system");

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(PLACE, next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
