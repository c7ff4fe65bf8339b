// The operations for those who run the gateway, and the pages that explain it. None needs a key.

import { json, type Operation, openOperation, query, textContent } from "./operation.ts";
import { AnyObject, AnyText } from "./schema.ts";

const CHECKS = "[+]shutdown ok\n[+]database ok\n[+]log ok\n[+]providers ok\nreadyz check passed\n";

export const SERVICE_OPERATIONS: readonly Operation[] = [
  openOperation("describeV1", "/v1", "What is served here"),
  openOperation("isAlive", "/healthz", "Alive"),
  openOperation("isLive", "/livez", "Alive: the same as /healthz under its newer name"),
  openOperation("isReady", "/readyz", "Ready for traffic; with `verbose` one line per check, as text", {
    parameters: [{ ...query("verbose", AnyText), allowEmptyValue: true }],
    response: { ...json(AnyObject), "text/plain": { schema: AnyText, example: CHECKS } },
    hasPlainErrors: true,
  }),
  openOperation("getMetrics", "/metrics", "Prometheus metrics, for loopback or the admin token", {
    response: textContent("text/plain"),
    errors: [401],
  }),
  openOperation("getContract", "/openapi.json", "This document"),
  openOperation("readDocs", "/docs", "The documentation, with this contract as a page; it is below /docs/", {
    status: 308,
    response: null,
    errors: [421],
    hasPlainErrors: true,
  }),
  openOperation("readGuide", "/llms.txt", "How to use this gateway, in short, for agents", {
    response: textContent("text/plain"),
  }),
];
