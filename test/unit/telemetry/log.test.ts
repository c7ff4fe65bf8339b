// The second net of the log: secrets are blotted out at the top and one level below, and nothing else is touched.

import { describe, expect, test } from "vitest";
import { createLog, withoutSecrets } from "../../../src/telemetry/log.ts";

describe("withoutSecrets", () => {
  test("hands back the very same object when there is nothing to hide", () => {
    const fields = { requestId: "req_1", usage: [1, 2], attempts: [{ model: "m" }], nothing: null };
    expect(withoutSecrets(fields, 0)).toBe(fields);
  });

  test.each([
    [{ authorization: "Bearer x" }, { authorization: "[Redacted]" }],
    [
      { apiKey: "x", port: 1 },
      { apiKey: "[Redacted]", port: 1 },
    ],
    [{ provider: { id: "lab", token: "x" } }, { provider: { id: "lab", token: "[Redacted]" } }],
  ])("%j becomes %j, in a copy", (fields, expected) => {
    const before = structuredClone(fields);
    expect(withoutSecrets(fields, 0)).toEqual(expected);
    expect(fields).toEqual(before);
  });

  test("keeps what an error says, without the secrets it carries", () => {
    const err = Object.assign(new TypeError("it broke"), { token: "x" });
    const { err: shown } = withoutSecrets({ err }, 0);
    expect(shown).toMatchObject({ type: "TypeError", message: "it broke", token: "[Redacted]" });
  });
});

test("a log can be made and written to", () => {
  const log = createLog("silent");
  expect(() => log.info({ requestId: "req_1" }, "request")).not.toThrow();
});
