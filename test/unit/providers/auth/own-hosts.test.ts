// The identity of the machine goes to hosts of its cloud alone.

import { expect, test } from "vitest";
import type { Provider } from "../../../../src/core/model.ts";
import { AZURE_HOSTS, GOOGLE_HOSTS, isOwnHost, requireOwnHost } from "../../../../src/providers/auth/own-hosts.ts";

test.each([
  ["https://europe-west1-aiplatform.googleapis.com/v1", true],
  ["http://127.0.0.1:9000", true],
  ["http://[::1]:9000", true],
  ["http://europe-west1-aiplatform.googleapis.com", false],
  ["https://evil.example", false],
  ["https://googleapis.com.evil.example", false],
  ["https://evilgoogleapis.com", false],
  ["https://127.0.0.1.evil.example", false],
  ["https://evil.example/?a=.googleapis.com", false],
])("%s is a host of Google: %s", (address, isOwn) => {
  expect(isOwnHost(address, GOOGLE_HOSTS)).toBe(isOwn);
});

test("a key of its own may go where the provider is, and the machine's token may not", () => {
  const provider = { baseUrl: "https://gateway.example", apiKey: "own" } as Provider;
  expect(() => requireOwnHost(provider, AZURE_HOSTS)).not.toThrow();
  expect(() => requireOwnHost({ ...provider, apiKey: null }, AZURE_HOSTS)).toThrow(/not to gateway\.example/);
});
