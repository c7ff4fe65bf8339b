// @ts-check
// How the dashboard is built: one page, hashed files, no inlined assets (the page's security policy forbids data: scripts
// and inline styles alike).

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// Tests build it too, and their NODE_ENV would bring the development variants of the libraries along.
process.env.NODE_ENV = "production";

/** What the first page needs, and all other pages together: many small files compress badly. */
const PARTS = [
  { name: "first", test: /node_modules|ui.(?!pages.)|ui.pages.(overview|not-found|sign-in)/, priority: 2 },
  { name: "pages", test: /ui.pages./, priority: 1 },
];

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  clearScreen: false,
  logLevel: "warn",
  // Calls of `h` are a sixtieth smaller, compressed, than those of the newer runtime.
  oxc: {
    jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" },
    jsxInject: 'import { Fragment, h } from "preact"',
  },
  build: {
    target: "es2022",
    outDir: "../dist/ui",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Texts are constants in files of their own; where they are used is where they compress best.
      optimization: { inlineConst: { mode: "all" } },
      output: { codeSplitting: { groups: PARTS } },
    },
  },
});
