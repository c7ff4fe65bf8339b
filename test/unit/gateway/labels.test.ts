import { describe, expect, test } from "vitest";
import { NO_TAGS } from "../../../src/core/requests/records.ts";
import { labelsOf } from "../../../src/gateway/labels.ts";

describe("the user of a request", () => {
  test.each([
    ["OpenAI's user", { user: "ada" }, "ada"],
    ["the safety identifier, which replaced it", { user: "ada", safety_identifier: "hash-1" }, "hash-1"],
    ["Anthropic's user id", { metadata: { user_id: "user-7" } }, "user-7"],
    [
      "Claude Code's user without its session",
      { metadata: { user_id: "user_ab_account_cd_session_ef-1" } },
      "user_ab_account_cd",
    ],
    ["the same as JSON", { metadata: { user_id: '{"device_id":"d1","account_uuid":"","session_id":"s"}' } }, "d1"],
    ["control characters taken out", { user: "a\u0000\nb" }, "a b"],
    ["no more than 128 characters", { user: "x".repeat(5_000) }, "x".repeat(128)],
    ["no half of a character", { user: `${"x".repeat(127)}🚀` }, "x".repeat(127)],
    ["a key in place of a name", { user: "sk-service-abcdef0123456789abcdef" }, "•••"],
    ["nothing", {}, null],
    ["an empty name", { user: " " }, null],
    ["what is no text", { user: 7, metadata: { user_id: {} } }, null],
  ])("%s", (_, body, user) => {
    expect(labelsOf({}, body).user).toBe(user);
  });
});

describe("the tags of a request", () => {
  test("come from headers and from metadata; a header wins", () => {
    const headers = { "x-tag-team": "search", "x-tag-env": "prod", authorization: "Bearer secret" };
    const body = { metadata: { team: "ads", run: "17", depth: 3, user_id: "ada" } };
    expect(labelsOf(headers, body).tags).toEqual({ team: "search", env: "prod", run: "17" });
  });

  test("in a header may be UTF-8", () => {
    const sent = Buffer.from("検索", "utf8").toString("latin1");
    expect(labelsOf({ "x-tag-team": sent, "x-tag-old": "caf\u00e9" }, {}).tags).toEqual({ team: "検索", old: "café" });
  });

  test("are bounded in number and length, and no secret is in them", () => {
    const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`tag${n}`, "v".repeat(5_000)]));
    const { tags } = labelsOf({}, { metadata });
    expect(Object.keys(tags)).toHaveLength(16);
    expect(tags.tag3).toBe("v".repeat(256));
    const named = { ["n".repeat(65)]: "x", "": "x", key: "sk-proj-abcdefghijkl0123", kind: "api-gateway-production" };
    expect(labelsOf({}, { metadata: named }).tags).toEqual({ key: "•••", kind: "api-gateway-production" });
  });

  test("cost nothing where there are none", () => {
    expect(labelsOf({ accept: "*/*" }, { model: "auto" }).tags).toBe(NO_TAGS);
    expect(labelsOf({}, { metadata: "no object" }).tags).toBe(NO_TAGS);
  });

  test("may have any name that an object can have", () => {
    const { tags } = labelsOf({}, { metadata: JSON.parse('{"__proto__":"a","constructor":"b"}') });
    expect(Object.entries(tags)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });
});
