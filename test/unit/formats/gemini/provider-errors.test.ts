// Google's errors: what each means, and which field of a request it refuses.

import { describe, expect, it } from "vitest";
import { geminiProvider } from "../../../../src/formats/gemini/provider.ts";
import { judge } from "../../../../src/gateway/attempt/verdict.ts";
import { makeChat } from "../../../support/catalog.ts";
import { type GoogleError, googleError } from "../../../support/providers/fake-gemini.ts";

const read = (status: number, error: GoogleError): ReturnType<typeof geminiProvider.readError> =>
  geminiProvider.readError(Buffer.from(JSON.stringify(googleError(status, error))));
const verdictOf = (status: number, error: GoogleError): unknown => {
  const fault = read(status, error);
  return judge({ kind: "status", status, message: "", fault, retryAfterMs: fault.retryAfterMs ?? null });
};
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";

describe("blame", () => {
  it.each([
    ["a refused key", 400, { words: "API key not valid.", reason: "API_KEY_INVALID" }, "operator"],
    ["an expired key", 400, { words: "API key expired. Please renew the API key." }, "operator"],
    ["a region", 400, { words: "User location is not supported for the API use." }, "operator"],
    ["no permission", 403, { words: "Your API key was reported as leaked." }, "operator"],
    ["no such model", 404, { words: "models/x is not found" }, "operator"],
    ["no money", 429, { words: "Your prepayment credits are depleted." }, "operator"],
    ["a limit, in the words of money", 429, { words: QUOTA, retryDelay: "22s" }, "provider"],
    ["overload", 503, { words: "The model is overloaded." }, "provider"],
    ["a bad request", 400, { words: "Please use a valid role." }, "client"],
  ])("%s", (_what, status, error, blame) => {
    expect(verdictOf(status, error)).toMatchObject({ blame });
  });

  it("a prompt that is too long goes to a larger window", () => {
    const words = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";
    expect(verdictOf(400, { words })).toMatchObject({ next: "larger-window" });
  });
});

describe("the wait", () => {
  it.each([
    [{ words: QUOTA, retryDelay: "22s" }, 22_000],
    [{ words: QUOTA, retryDelay: "1.5s" }, 1_500],
    [{ words: `${QUOTA} Please retry in 7.25s.` }, 7_250],
    [{ words: QUOTA, retryDelay: "86400s" }, 300_000],
    [{ words: QUOTA, retryDelay: "soon" }, null],
    [{ words: QUOTA }, null],
  ])("%j is %j ms", (error, expected) => {
    expect(read(429, error).retryAfterMs).toBe(expected);
  });
});

describe("shapes", () => {
  it.each([
    [JSON.stringify([googleError(429, { words: "listed" })]), "listed"],
    ['{"error":"bare"}', "bare"],
    ['{"error":{"code":400}}', ""],
    ["<html>502</html>", "<html>502</html>"],
    ["", ""],
    ["[]", "[]"],
  ])("%s", (body, message) => {
    expect(geminiProvider.readError(Buffer.from(body)).message).toBe(message);
  });
});

describe("refused fields", () => {
  it.each([
    ["Function call `x` in the `1.` content block is missing a `thought_signature`.", "contents.thoughtSignature"],
    ["Corrupted thought signature.", "contents.thoughtSignature"],
    ["Thinking level is not supported for this model.", "generationConfig.thinkingConfig"],
    ["Budget 0 is invalid. This model only works in thinking mode.", "generationConfig.thinkingConfig"],
    ["The thinking budget 64 is invalid.", "generationConfig.thinkingConfig"],
    ["Penalty is not enabled for models/gemini-x", "generationConfig.penalties"],
    ["Developer instruction is not enabled for models/gemma-3", "systemInstruction"],
    ['Invalid JSON payload received. Unknown name "foo": Cannot find field.', "foo"],
    [
      `Invalid JSON payload received. Unknown name "top_z" at 'generation_config': Cannot find field.`,
      "generationConfig.topZ",
    ],
  ])("%s", (words, param) => {
    expect(read(400, { words })).toMatchObject({ isFieldRefused: true, param });
  });

  it.each([
    `Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`,
    "Request contains an invalid argument.",
  ])("%s names none", (words) => {
    expect(read(400, { words })).toMatchObject({ isFieldRefused: false, param: "" });
  });

  const chat = makeChat();
  it.each([
    ["contents.thoughtSignature", {}, true, true],
    ["systemInstruction", {}, false, true],
    ["generationConfig.thinkingConfig", {}, false, true],
    ["generationConfig.thinkingConfig", { generationConfig: { thinkingConfig: {} } }, true, true],
    ["generationConfig.thinkingConfig", {}, true, true],
    ["generationConfig.penalties", { generationConfig: { presencePenalty: 1 } }, true, true],
    ["generationConfig.responseJsonSchema", {}, false, false],
    ["foo", { foo: 1 }, true, true],
    ["foo", {}, true, false],
    ["foo", { foo: 1 }, false, false],
    ["tools", { tools: [] }, true, false],
  ])("%s of %j, native %j: may be left out is %j", (field, body, isNative, expected) => {
    expect(geminiProvider.mayLeaveOut(field, { body, chat, isNative })).toBe(expected);
  });
});

describe("the list of models", () => {
  it("is asked for in one page, and its names lose their folder", () => {
    const { path } = geminiProvider.listing.request({ hasQuery: false });
    expect(path).toBe("/models?pageSize=1000");
    const list = { models: [{ name: "models/gemini-3-flash", displayName: "x" }, { name: 3 }] };
    expect(geminiProvider.listing.read(Buffer.from(JSON.stringify(list)))).toEqual([
      { id: "gemini-3-flash", aliases: [], price: null },
    ]);
    expect(geminiProvider.listing.read(Buffer.from("{}"))).toBeNull();
  });

  it("names the next page until the last", () => {
    const { request, nextPage } = geminiProvider.listing;
    expect(request({ hasQuery: false, page: "a b" }).path).toBe("/models?pageSize=1000&pageToken=a%20b");
    expect(nextPage?.(Buffer.from('{"models":[],"nextPageToken":"t"}'))).toBe("t");
    expect(nextPage?.(Buffer.from('{"models":[],"nextPageToken":""}'))).toBeNull();
    expect(nextPage?.(Buffer.from("<html>"))).toBeNull();
  });
});
