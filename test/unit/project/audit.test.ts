// The audit of dependencies: serious holes are found, and a registry that says nothing is told from one without any.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { auditPackages, judgeAudit } from "../../../scripts/setup/audit.mjs";
import { ensureBuild, ensureSite } from "../../../scripts/setup.mjs";

const ROOT = join(import.meta.dirname, "../../..");

const report = (...severities: string[]): string =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      severities.map((severity, index) => [`p${index}`, { name: `p${index}`, severity }]),
    ),
  });

const SERVED = new Set(["p0", "p1"]);

describe("the audit", () => {
  beforeAll(async () => {
    await ensureBuild();
    await ensureSite();
  });

  test.each([
    ["nothing", report(), "clean", /nothing serious known, 0 lesser/],
    ["lesser ones", report("low", "moderate"), "clean", /2 lesser/],
    ["a high one", report("low", "high"), "found", /p1 \(high\)/],
    ["a high one of a tool", report("low", "low", "high"), "clean", /3 lesser or in tools/],
    ["a critical one, after a warning of npm", `npm warn something\n${report("critical")}`, "found", /p0 \(critical\)/],
  ])("of a registry that names %s", (_name, output, state, line) => {
    expect(judgeAudit([report(), output], SERVED)).toEqual({ state, line: expect.stringMatching(line) });
  });

  test.each([
    ["has no such service", JSON.stringify({ message: "405 Method Not Allowed", statusCode: 405 }), /status 405/],
    ["cannot be reached", JSON.stringify({ message: "connect ECONNREFUSED\nmore" }), /connect ECONNREFUSED$/],
    ["answers nonsense", "<html>", /<html>/],
    ["answers nothing", "", /no answer/],
  ])("is skipped, with the reason, where the registry %s", (_name, output, line) => {
    expect(judgeAudit([report(), output], SERVED)).toEqual({ state: "skipped", line: expect.stringMatching(line) });
  });

  test("fails by itself when the registry does not answer", () => {
    const env = { ...process.env, npm_config_registry: "http://127.0.0.1:1/" };
    const { status, stdout } = spawnSync(process.execPath, ["scripts/audit.mjs"], { cwd: ROOT, env, encoding: "utf8" });
    expect([status, stdout]).toEqual([1, expect.stringContaining("– audit: skipped, the registry does not say")]);
  });

  test.each(["pg", "undici", "fastify", "preact", "minisearch"])(
    "asks npm about what is served with, such as %s, for each group of packages and not for long",
    async (name) => {
      const calls: (readonly string[])[] = [];
      const verdict = await auditPackages(ROOT, async (_command, args, { cwd }) => {
        calls.push([cwd, ...args]);
        return { code: 1, output: JSON.stringify({ vulnerabilities: { [name]: { name, severity: "high" } } }) };
      });
      expect(verdict.state).toBe("found");
      expect(calls.map(([cwd]) => cwd)).toEqual([ROOT, join(ROOT, "docs"), join(ROOT, "test")]);
      for (const args of calls) expect(args).toEqual(expect.arrayContaining(["audit", "--fetch-retries=0"]));
    },
  );
});
