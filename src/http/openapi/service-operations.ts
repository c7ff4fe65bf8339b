// The operations for those who run it, which need no key.

import { type Operation, open } from "./operation.ts";

export const SERVICE_OPERATIONS: readonly Operation[] = [
  open("describeV1", "/v1", "What is served here"),
  open("isAlive", "/healthz", "Alive"),
  open("isLive", "/livez", "Alive: the same as /healthz under its newer name"),
  {
    ...open("isReady", "/readyz", "Ready for traffic; with `verbose` one line per check, as text"),
    parameters: [{ name: "verbose", in: "query", schema: { type: "string" }, allowEmptyValue: true }],
    answer: {
      "application/json": { schema: { type: "object" } },
      "text/plain": {
        schema: { type: "string" },
        example: "[+]shutdown ok\n[+]database ok\n[+]providers ok\nreadyz check passed\n",
      },
    },
    errors: ["503"],
  },
  {
    ...open("getMetrics", "/metrics", "Prometheus metrics, for loopback or the admin token"),
    answer: { "text/plain": { schema: { type: "string" } } },
    errors: ["401"],
  },
  open("getContract", "/openapi.json", "This document"),
  {
    ...open("readDocs", "/docs", "This contract as a page"),
    answer: { "text/html": { schema: { type: "string" } } },
  },
  {
    ...open("readGuide", "/llms.txt", "How to use this gateway, in short, for agents"),
    answer: { "text/plain": { schema: { type: "string" } } },
  },
];
