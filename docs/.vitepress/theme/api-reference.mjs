// @ts-check
// The API reference: Swagger UI over the gateway's own /openapi.json. It is loaded on its page alone, and requests that a
// reader tries go to the gateway that serves the page.

import { withBase } from "vitepress";

/** A Vue component that shows nothing itself and fills the element with the id `api-reference`. */
export const ApiReference = {
  mounted() {
    const style = Object.assign(document.createElement("link"), {
      rel: "stylesheet",
      href: withBase("/swagger-ui.css"),
    });
    const script = Object.assign(document.createElement("script"), { src: withBase("/swagger-ui-bundle.js") });
    script.addEventListener("load", show);
    document.head.append(style, script);
  },
  render: () => null,
};

function show() {
  // @ts-expect-error The bundle defines this global.
  window.SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#api-reference",
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
