// Choices that this browser keeps, such as the columns of a table.

/** A choice of this browser; null where there is none, or no storage. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser without storage keeps it until the page is left.
  }
}
