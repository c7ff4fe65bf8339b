// Texts for an unknown address.

// index.tsx
export const hint = "Check the address, or press ⌘K to search pages, keys and requests.";
export const title = "Page not found";
export const goToOverview = "Go to overview";
