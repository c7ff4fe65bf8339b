// The path that is looked at by everybody: one spelling of it.

import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { pathOf } from "../../../../src/http/exchange/strict-http.ts";

test.each([
  ["/v1/models", "/v1/models"],
  ["/%761/%6Dodels", "/v1/models"],
  ["/%2576%31/x", "/%25761/x"],
  ["/v1/models/a%2fb", "/v1/models/a%2fb"],
  ["/v1/%2e%2E/api", "/v1/../api"],
  ["/x%00%0d%ff%zz%", "/x%00%0d%ff%zz%"],
  ["/v1/models?after=%61%2f", "/v1/models?after=%61%2f"],
  ["/%3fx", "/%3fx"],
  ["http://here:1/%761/models", "/v1/models"],
  ["http://elsewhere/v1/models", "http://elsewhere/v1/models"],
])("%s is %s", (url, path) => {
  expect(pathOf({ url, headers: { host: "here:1" } } as IncomingMessage)).toBe(path);
});
