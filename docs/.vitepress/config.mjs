// @ts-check
// How the documentation is built from docs/. The gateway serves the result at /docs under its strict content policy,
// so pages carry no inline script and no inline style.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { withLicences } from "../../scripts/setup/licences.mjs";
import { SWAGGER, writeExtras } from "./extras.mjs";
import { CODE_THEME, classesForColors } from "./highlight.mjs";
import { unlinkOutside } from "./links.mjs";
import { SECTIONS } from "./navigation.mjs";

/** The theme's inline scripts, which theme.js replaces, and its two inline styles, which do nothing on a fresh page. */
const INLINE = /<script id="check-(?:dark-mode|mac-os)">.*?<\/script>| style="(?:--vp-vh:0px|position:relative);"/gs;

/** What no browser needs in the head of every page. */
const UNUSED = /<meta name="generator"[^>]*>|\n\s*(?=<(?:meta|title|link|script|\/?head|body)\b)/g;

export default defineConfig({
  title: "Switchyard",
  description: "Documentation of Switchyard, a model-routing gateway for OpenAI and Anthropic clients.",
  lang: "en",
  base: "/docs/",
  cleanUrls: true,
  // Switching transitions off for a moment takes an inline style.
  appearance: { disableTransition: false },
  cacheDir: fileURLToPath(new URL("../../.cache/vitepress", import.meta.url)),
  head: [
    ["link", { rel: "icon", href: "/docs/favicon.svg" }],
    ["script", { src: "/docs/theme.js" }],
  ],
  markdown: {
    theme: CODE_THEME,
    codeTransformers: [classesForColors],
    config: (markdown) => void markdown.use(unlinkOutside),
  },
  transformHtml: (html) => html.replace(INLINE, "").replace(UNUSED, ""),
  buildEnd: ({ outDir, srcDir, pages }) => writeExtras({ outDir, srcDir, pages }),
  vite: {
    build: { assetsInlineLimit: 0, reportCompressedSize: false, modulePreload: { polyfill: false } },
    plugins: [withLicences([SWAGGER])],
  },
  themeConfig: {
    logo: "/favicon.svg",
    nav: SECTIONS.map(({ text, items }) => ({
      text,
      link: items[0]?.link ?? "/",
      activeMatch: `^(${items.map(({ link }) => link).join("|")})$`,
    })),
    sidebar: SECTIONS.map(({ text, items }) => ({ text, collapsed: false, items: [...items] })),
    outline: [2, 3],
    search: { provider: "local" },
    docFooter: { prev: "Previous", next: "Next" },
  },
});
