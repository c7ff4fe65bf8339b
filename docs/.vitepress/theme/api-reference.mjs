// @ts-check
// The API reference: Swagger UI over the gateway's own /openapi.json, below an outline that narrows it to one section. It is loaded on its
// page alone, and requests that a reader tries go to the gateway that serves the page.

import { withBase } from "vitepress";
import { h, onMounted, ref } from "vue";

/** A Vue component: the outline, and the element that Swagger UI fills. */
export const ApiReference = {
  setup() {
    const sections = ref(/** @type {readonly string[]} */ ([]));
    const chosen = ref("");
    /** @type {{ layoutActions: { updateFilter(text: string | boolean): void } } | undefined} */
    let swagger;
    onMounted(async () => {
      const spec = await (await fetch("/openapi.json")).json();
      const style = { rel: "stylesheet", href: withBase("/swagger-ui.css") };
      const script = Object.assign(document.createElement("script"), { src: withBase("/swagger-ui-bundle.js") });
      script.addEventListener("load", () => {
        swagger = show(spec);
        sections.value = sectionsOf(spec);
      });
      // Before the theme's own style, which has the last word.
      document.head.prepend(Object.assign(document.createElement("link"), style));
      document.head.append(script);
    });
    const choose = (/** @type {string} */ name) => {
      chosen.value = chosen.value === name ? "" : name;
      swagger?.layoutActions.updateFilter(chosen.value === "" ? true : chosen.value);
    };
    const button = (/** @type {string} */ name) =>
      h(
        "button",
        { type: "button", "aria-pressed": chosen.value === name, onClick: () => choose(name) },
        name.replace("Dashboard API: ", ""),
      );
    return () =>
      h("div", [
        h("nav", { class: "api-outline", "aria-label": "Sections" }, sections.value.map(button)),
        h("div", { id: "operations" }),
      ]);
  },
};

/** The tags of the operations, in their order. */
function sectionsOf(/** @type {{ paths: Record<string, Record<string, { tags?: readonly string[] }>> }} */ { paths }) {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  return [...new Set(operations.flatMap(({ tags = [] }) => tags))];
}

function show(/** @type {object} */ spec) {
  // @ts-expect-error The bundle defines this global.
  return window.SwaggerUIBundle({
    spec,
    dom_id: "#operations",
    deepLinking: true,
    filter: true,
    docExpansion: "list",
    defaultModelRendering: "model",
    defaultModelExpandDepth: 2,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    syntaxHighlight: { activated: false },
    validatorUrl: null,
  });
}
