// The operations for those who run it, which need no key.

import { type Operation, open } from "./operation.ts";

export const SERVICE_OPERATIONS: readonly Operation[] = [
  open("describeV1", "/v1", "What is served here"),
  open("isAlive", "/healthz", "Alive"),
  { ...open("isReady", "/readyz", "Ready for traffic"), errors: ["503"] },
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
];
