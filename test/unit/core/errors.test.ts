// docs/reference/errors.md says what the table of errors says.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_KINDS, type ErrorKind, GatewayError } from "../../../src/core/errors.ts";

const PAGE = new URL("../../../docs/reference/errors.md", import.meta.url);

describe("docs/reference/errors.md", () => {
  const rows = [...readFileSync(PAGE, "utf8").matchAll(/^\| (\d{3}) \| `(\w+)` \| `(\w+)` \| (.+) \|$/gm)];

  it("has every kind of error with its status and type, and no other", () => {
    const documented = rows.map(([, status, kind, type]) => [kind, { status: Number(status), type }]);
    expect(Object.fromEntries(documented)).toEqual(ERROR_KINDS);
    expect(documented).toHaveLength(Object.keys(ERROR_KINDS).length);
  });

  it("goes by status, and says when each happens", () => {
    const statuses = rows.map(([, status]) => Number(status));
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b));
    for (const [, , , , when] of rows) expect(when?.length).toBeGreaterThan(10);
  });
});

describe("GatewayError", () => {
  it("knows status and type of its kind and keeps the cause for the log", () => {
    for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
      const cause = new Error("inner");
      const error = new GatewayError(kind, "What to do.", { code: "c", cause });
      expect(error).toMatchObject({ ...ERROR_KINDS[kind], message: "What to do.", cause });
    }
  });
});
