// @ts-check
// VitePress's default theme with system fonts, our colours and the API reference.

import DefaultTheme from "vitepress/theme-without-fonts";
import { ApiReference } from "./api-reference.mjs";
import "./style.css";

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component("ApiReference", ApiReference),
};
