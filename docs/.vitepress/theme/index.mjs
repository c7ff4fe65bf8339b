// @ts-check
// VitePress's default theme with system fonts, our colours, the way back to the dashboard and the API reference.

import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import { ApiReference } from "./api-reference.mjs";
import "./style.css";

/** The dashboard is outside of the site, so the site's router must leave the link alone. */
const dashboardLink = () => h("a", { class: "dashboard-link", href: "/", target: "_self" }, "Open dashboard");

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "nav-bar-content-after": dashboardLink,
      "nav-screen-content-after": dashboardLink,
    }),
  enhanceApp: ({ app }) => void app.component("ApiReference", ApiReference),
};
