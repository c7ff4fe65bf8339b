// switchyard secret: the way to another secret, and what doctor says of a wrong one.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { audit } from "../../../src/cli/access/audit.ts";
import { readArguments } from "../../../src/cli/command/arguments.ts";
import { doctor } from "../../../src/cli/doctor/doctor.ts";
import { secret } from "../../../src/cli/secret.ts";
import { openDb } from "../../../src/store/db.ts";
import { openSecretFor } from "../../../src/store/secret/secret.ts";
import { startGateway } from "../../support/gateway/gateway.ts";
import { recordTerminal } from "../../support/gateway/terminal.ts";

const OFFLINE = { SWITCHYARD_DISCOVER_LOCAL: "false", PORT: "0" };

async function checksOf(env: Record<string, string>): Promise<readonly object[]> {
  const terminal = recordTerminal({ env: { ...OFFLINE, ...env } });
  await doctor(readArguments(["doctor", "--json"]), terminal);
  return (JSON.parse(terminal.takeOut()) as { checks: object[] }).checks;
}

test("replace makes the database belong to the configured secret, when it is confirmed", async () => {
  const { cwd } = recordTerminal();
  const DATABASE_URL = `sqlite:${join(cwd, "old.db")}`;
  const db = await openDb(DATABASE_URL);
  await db.migrate();
  await openSecretFor(db, { secret: "the-old-secret-of-a-test", dataDir: cwd });
  await db.close();
  const env = { DATABASE_URL, SWITCHYARD_SECRET: "the-new-secret-of-a-test" };
  const check = async (SWITCHYARD_SECRET: string) =>
    (await checksOf({ DATABASE_URL, SWITCHYARD_SECRET })).find((row) => JSON.stringify(row).includes("Secret"));

  expect(await check("the-old-secret-of-a-test")).toMatchObject({ state: "ok" });
  expect(await check("the-new-secret-of-a-test")).toMatchObject({
    state: "fail",
    what: "Secret: another one than the database has",
  });
  expect(await check("")).toMatchObject({ state: "fail", what: "Secret: missing, and the database has one" });
  const asked = recordTerminal({ env, ask: async () => "n" });
  expect(await secret(readArguments(["secret", "replace"]), asked)).toBe(1);
  expect(await check("the-old-secret-of-a-test")).toMatchObject({ state: "ok" });
  const terminal = recordTerminal({ env });
  expect(await secret(readArguments(["secret", "replace", "--yes"]), terminal), terminal.takeSaid()).toBe(0);
  expect(await check("the-new-secret-of-a-test")).toMatchObject({ state: "ok" });
  expect(await secret(readArguments(["secret", "replace"]), terminal)).toBe(0);
  expect(terminal.takeSaid()).toContain("no other secret");
  // The first one was not confirmed, and the last one changed nothing.
  expect(await audit(readArguments(["audit", "list", "--json"]), terminal)).toBe(0);
  expect(JSON.parse(terminal.takeOut()).data).toEqual([expect.objectContaining({ action: "secret", outcome: "done" })]);
});

test("it is refused while a gateway serves", async () => {
  const gateway = await startGateway({ database: "file" });
  onTestFinished(() => gateway.stop());
  const terminal = recordTerminal({
    env: { DATABASE_URL: gateway.database, SWITCHYARD_SECRET: "the-new-secret-of-a-test" },
  });
  expect(await secret(readArguments(["secret", "replace", "--yes"]), terminal)).toBe(1);
  expect(terminal.takeSaid()).toContain("Another process is serving");
  expect(existsSync(join(terminal.cwd, "data"))).toBe(false);
});
