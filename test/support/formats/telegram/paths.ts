// Where clients call the invented format.

import type { ClientPaths } from "../../../../src/formats/paths.ts";

export const TELEGRAM_PATHS: ClientPaths = {
  clients: "Telegraph",
  baseUrl: "",
  modelsPath: "/wire/stations",
  routes: [
    {
      path: "/wire/telegrams",
      operation: "sendTelegram",
      summary: "Route a telegram to a model and wire the answer",
      example: { lines: [{ from: "sender", words: "YOUR_WORDS" }] },
      counting: { path: "/wire/telegrams/count", operation: "countWords" },
    },
  ],
  notServed: [[/^\/wire\/flags$/, "Flags are not served: send a telegram to POST /wire/telegrams."]],
};
