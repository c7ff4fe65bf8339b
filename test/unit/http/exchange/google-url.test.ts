// Addresses of Google's clients: every form of the path becomes one, and a key in the query moves into its header.

import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { normaliseGoogleUrl } from "../../../../src/http/exchange/request-head.ts";
import { cpuMs } from "../../../support/cpu-time.ts";

function normalised(url: string, headers: IncomingHttpHeaders = {}): { url: string; headers: IncomingHttpHeaders } {
  const request = { url, headers: { ...headers } };
  normaliseGoogleUrl(request);
  return request;
}

describe("the path", () => {
  it.each([
    ["/v1beta/models/auto:generateContent", "/v1beta/models/auto:generateContent"],
    ["/v1beta/models/models/auto:generateContent", "/v1beta/models/auto:generateContent"],
    ["/v1/models/auto:countTokens", "/v1beta/models/auto:countTokens"],
    ["/v1alpha/models/auto:streamGenerateContent?alt=sse", "/v1beta/models/auto:streamGenerateContent?alt=sse"],
    ["//v1beta//models//auto:generateContent/", "/v1beta/models/auto:generateContent"],
    ["/v1/v1beta/models/auto:generateContent", "/v1beta/models/auto:generateContent"],
    ["/v1beta/vendor/model:generateContent", "/v1beta/models/vendor%2Fmodel:generateContent"],
    ["/v1beta/models/vendor/model:generateContent", "/v1beta/models/vendor%2Fmodel:generateContent"],
    ["/v1beta/models/qwen3:8b%3AgenerateContent", "/v1beta/models/qwen3:8b:generateContent"],
    ["/v1beta1/publishers/google/models/g:generateContent", "/v1beta/models/g:generateContent"],
    ["/v1/projects/p/locations/l/publishers/google/models/g:countTokens", "/v1beta/models/g:countTokens"],
  ])("%s", (given, expected) => {
    expect(normalised(given).url).toBe(expected);
  });

  it.each([
    "/v1/chat/completions",
    "/v1/models/qwen3:8b",
    "/v1/files",
    "/v1/batches/b",
    "/upload/v1/files",
    "/v1beta/models/auto:embedContent",
    "/models/auto:generateContent",
    "/v1/chat/completions?a=/v1/models/b:generateContent",
  ])("%s stays", (url) => {
    expect(normalised(url)).toEqual({ url, headers: {} });
  });

  it.each([
    ["/v1/files?pageSize=1", "/v1beta/files?pageSize=1"],
    ["//v1//batches/b:cancel", "/v1beta/batches/b:cancel"],
    ["/v1/cachedContents/c", "/v1beta/cachedContents/c"],
    ["/upload/v1/files", "/upload/v1beta/files"],
    ["/v1/models/m:embedContent", "/v1beta/models/m:embedContent"],
    ["/v1/models/a/b:batchGenerateContent", "/v1beta/models/a%2Fb:batchGenerateContent"],
    ["/v1/chat/completions", "/v1/chat/completions"],
  ])("%s is that of Google's client, where its header says so", (given, expected) => {
    expect(normalised(given, { "x-goog-api-key": "k" }).url).toBe(expected);
  });

  it("is read in a time that grows with its length only", () => {
    const tookMs = cpuMs(() => {
      for (const piece of ["models/", "/v1", "projects/p/", ":generateContent", "%3A"]) {
        normalised(`/v1beta/${piece.repeat(16_000 / piece.length)}`);
        normalised(`/v1beta/models/${piece.repeat(16_000 / piece.length)}:generateContent`);
      }
    });
    expect(tookMs).toBeLessThan(1_000);
  });
});

describe("the key", () => {
  const PATH = "/v1beta/models";
  it.each([
    ["?key=a", {}, "", "a"],
    ["?alt=sse&key=a&b=c", {}, "?alt=sse&b=c", "a"],
    ["?%6Bey=a", {}, "", "a"],
    ["?key=a%2Db", {}, "", "a-b"],
    ["?key=a", { "x-goog-api-key": "a" }, "", "a"],
    ["?key=a", { "x-goog-api-key": "b" }, "", "b, a"],
    ["?key=a&key=b", {}, "", "a, b"],
    ["?key", {}, "", ""],
  ])("%s with %o", (query, headers, left, key) => {
    expect(normalised(PATH + query, headers)).toEqual({ url: PATH + left, headers: { "x-goog-api-key": key } });
  });

  it.each(["/v1beta/models?monkey=a", "/v1/chat/completions?key=a", "/api/keys?key=a", "/v1betamax?key=a"])(
    "%s has none",
    (url) => {
      expect(normalised(url)).toEqual({ url, headers: {} });
    },
  );
});
