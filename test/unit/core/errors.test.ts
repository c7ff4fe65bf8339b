// docs/reference/errors.md says what the table of errors says.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFiles } from "../../../scripts/setup/files.mjs";
import { ERROR_KINDS, type ErrorKind, GatewayError, TOO_LONG, writtenFor } from "../../../src/core/errors.ts";
import { NOTE_CODES } from "../../../src/core/requests/notes.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");

/** Everything that an error of /v1 can come from. The rest of src/http/exchange serves the dashboard. */
const SOURCES = ["src/gateway", "src/routing", "src/formats", "src/http/v1", "src/http/overload", "src/core"].flatMap(
  (folder) => listFiles(ROOT, folder),
);
const EXCHANGE = ["body", "errors", "request-head"].map((name) => `src/http/exchange/${name}.ts`);
const CODE = /new GatewayError\(\s*"(\w+)"(?:(?!GatewayError)[\s\S]){0,400}?code: "(\w+)"/g;
/** In the object of a stored response, not in an error. */
const NO_ERRORS: readonly string[] = [
  "batch_expired",
  "duplicate_custom_id",
  "empty_file",
  "invalid_json_line",
  "invalid_request",
  "line_too_long",
  "too_many_lines",
  ...Object.keys(NOTE_CODES),
  "server_error",
];

describe("docs/reference/errors.md", () => {
  const rows = [...PAGE.matchAll(/^\| (\d{3}) \| `(\w+)` \| `(\w+)` \| (.+) \|$/gm)];

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

  const sources = [...SOURCES, ...EXCHANGE].filter((path) => path.endsWith(".ts"));
  const text = sources.map((path) => readFileSync(join(ROOT, path), "utf8")).join("\n");
  const documented = [...PAGE.matchAll(/^\| `(\w+)` \| (\d{3}) \| .{10,} \|$/gm)].map(
    ([, code = "", status]) => [code, Number(status)] as const,
  );

  it("has every code of /v1, in order, and no other", () => {
    const written = [...text.matchAll(/\bcode: "(\w+)"/g)].map(([, code = ""]) => code);
    const codes = new Set([...written, TOO_LONG, "no_capable_model", "provider_refused"]);
    const errors = [...codes].filter((code) => !NO_ERRORS.includes(code)).sort();
    expect(documented.map(([code]) => code)).toEqual(errors);
  });

  it("has the status of each code", () => {
    const pairs = [...text.matchAll(CODE)].map(([, kind, code = ""]) => [code, ERROR_KINDS[kind as ErrorKind].status]);
    expect(pairs.length).toBeGreaterThan(30);
    const statuses = new Map(documented);
    for (const [code, status] of pairs) expect([code, statuses.get(code as string)]).toEqual([code, status]);
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

  it("adds the operator's part only for operators", () => {
    const plain = new GatewayError("internal", "It broke.");
    const error = new GatewayError("internal", "It broke.", { code: "c", operator: "Fix it." });
    expect([writtenFor("operator", plain), writtenFor("caller", error)]).toEqual([plain, error]);
    expect(writtenFor("operator", error)).toMatchObject({ message: "It broke. Fix it.", details: { code: "c" } });
  });
});
