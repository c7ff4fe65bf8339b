// The doctor's checks that touch the world: each passes once and fails once.

import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatCheck } from "../../../../src/cli/command/symbols.ts";
import { databaseCheck, dataCheck } from "../../../../src/cli/doctor/database.ts";
import { checkNode } from "../../../../src/cli/doctor/doctor.ts";
import { diskCheck, portCheck, redisCheck, uiCheck } from "../../../../src/cli/doctor/machine.ts";
import type { Check } from "../../../../src/config/doctor.ts";
import { openDb } from "../../../../src/store/db.ts";
import { recordTerminal } from "../../../support/gateway/terminal.ts";
import { freePort } from "../../../support/network/ports.ts";
import { startTestRedis } from "../../../support/stores/redis.ts";

test.each([
  ["20.19.0", "ok"],
  ["22.1.0", "ok"],
  ["20.18.9", "fail"],
  ["18.20.1", "fail"],
])("Node %s where 20.19 is needed: %s", (version, state) => {
  expect(checkNode(version, ">=20.19").state).toBe(state);
});

describe("the data folder", () => {
  test("that can be made, and is not", () => {
    const folder = join(recordTerminal().cwd, "a/b");
    expect(dataCheck(folder)).toMatchObject({ state: "ok", what: expect.stringContaining("will be created") });
    expect(existsSync(folder)).toBe(false);
  });

  test("that is there", () => {
    expect(dataCheck(recordTerminal().cwd)).toMatchObject({ state: "ok", what: expect.stringContaining("writable") });
  });

  test("that is a file", () => {
    const file = join(recordTerminal().cwd, "data");
    writeFileSync(file, "");
    expect(dataCheck(file)).toMatchObject({ state: "fail", what: expect.stringContaining("not a folder") });
  });

  test.skipIf(process.getuid?.() === 0)("that is read-only", () => {
    const folder = join(recordTerminal().cwd, "data");
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    expect(dataCheck(folder).state).toBe("fail");
  });

  test.skipIf(!existsSync("/proc/self"))("that nobody at all may write to", () => {
    expect(dataCheck("/proc/switchyard")).toMatchObject({
      state: "fail",
      what: expect.stringContaining("cannot be written to"),
      fix: expect.stringContaining("SWITCHYARD_DATA"),
    });
  });

  test("is left as it was", () => {
    const folder = recordTerminal().cwd;
    dataCheck(folder);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("the database", () => {
  test("that does not exist is not created", async () => {
    const file = join(recordTerminal().cwd, "x.db");
    expect(await databaseOf(`sqlite:${file}`)).toMatchObject({ state: "ok" });
    expect(existsSync(file)).toBe(false);
  });

  test("that cannot be made where it should be", async () => {
    const file = join(recordTerminal().cwd, "x.db");
    writeFileSync(file, "");
    expect(await databaseOf(`sqlite:${file}/y.db`)).toMatchObject({
      state: "fail",
      what: expect.stringContaining("cannot be created"),
      fix: expect.stringContaining("DATABASE_URL"),
    });
  });

  test("empty, migrated, and from a newer version", async () => {
    const url = `sqlite:${join(recordTerminal().cwd, "x.db")}`;
    const db = await openDb(url);
    expect(await databaseOf(url)).toMatchObject({
      state: "warn",
      what: expect.stringContaining("0001_accounts"),
      fix: expect.stringContaining("npm start -- migrate up"),
    });
    await db.migrate();
    expect(await databaseOf(url)).toMatchObject({ state: "ok", what: expect.stringContaining("up to date") });
    await db.query("INSERT INTO schema_migrations (name, applied_at) VALUES ('9999_future', 1)");
    expect(await databaseOf(url)).toMatchObject({ state: "fail", what: expect.stringContaining("9999_future") });
    await db.close();
  });

  test("that is another kind of file", async () => {
    const file = join(recordTerminal().cwd, "x.db");
    writeFileSync(file, "not a database, but long enough to be taken for one".repeat(20));
    expect(await databaseOf(`sqlite:${file}`)).toMatchObject({ state: "fail", fix: expect.stringContaining(file) });
  });

  test.each(["log", "contents"])("with a damaged file of the %s, or a folder in its place", async (part) => {
    const folder = recordTerminal().cwd;
    const url = `sqlite:${join(folder, "a.db")}`;
    const db = await openDb(url);
    await db.migrate();
    await db.close();
    expect((await databaseCheck(url)).further).toEqual([]);
    const path = join(folder, `a-${part}.db`);
    writeFileSync(path, "not a database, but long enough to be taken for one".repeat(20));
    expect((await databaseCheck(url)).further).toEqual([
      {
        state: "fail",
        what: expect.stringContaining(`${path} cannot be used: file is not a database`),
        fix: expect.any(String),
      },
    ]);
    rmSync(path);
    mkdirSync(path);
    expect((await databaseCheck(url)).further).toMatchObject([
      { state: "fail", what: expect.stringContaining("it is not a file") },
    ]);
  });

  test("that nobody serves", async () => {
    const port = await freePort();
    const check = await databaseOf(`postgres://someone:secret@127.0.0.1:${port}/x`);
    expect(check).toMatchObject({ state: "fail", what: expect.stringContaining("ECONNREFUSED") });
    expect(check.what).not.toContain("secret");
  });
});

describe("the port", () => {
  const host = "127.0.0.1";

  test("free, and any", async () => {
    expect(await portCheck({ host, port: await freePort() })).toMatchObject({ state: "ok" });
    expect(await portCheck({ host, port: 0 })).toMatchObject({ state: "ok" });
  });

  test("taken by a switchyard", async () => {
    const port = await listen(healthServer({ "x-request-id": "req_0123456789abcdef01234567" }));
    expect(await portCheck({ host, port })).toMatchObject({ state: "ok", what: expect.stringContaining("running") });
  });

  test.each([
    ["answers health like everyone", healthServer({})],
    ["speaks no HTTP", createTcpServer((socket) => socket.end("hello\n"))],
  ])("taken by a program that %s", async (_, server) => {
    expect(await portCheck({ host, port: await listen(server) })).toMatchObject({ state: "fail" });
  });

  test("on an address that is not ours", async () => {
    expect(await portCheck({ host: "192.0.2.1", port: await freePort() })).toMatchObject({ state: "fail" });
  });
});

test.each([
  [{ state: "ok", what: "Fine", fix: "Could be more" }, "✓ Fine\n"],
  [{ state: "warn", what: "Odd", fix: "Look" }, "! Odd\n    Look\n"],
  [{ state: "fail", what: "Bad", fix: "Repair" }, "✗ Bad\n    Repair\n"],
] as const)("%j as a line", (check, line) => {
  expect(formatCheck(check, false)).toBe(line);
  expect(formatCheck(check, true)).toContain("\u001B[");
});

async function databaseOf(database: string): Promise<Check> {
  return (await databaseCheck(database)).check;
}

function healthServer(headers: Readonly<Record<string, string>>): Server {
  const answer: RequestListener = (_, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers }).end('{"status":"ok"}');
  };
  return createHttpServer(answer);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

test.each([
  [10 * 1024 ** 3, "ok"],
  [500 * 1024 ** 2, "warn"],
  [1024 ** 2, "fail"],
])("a disk with %d bytes free: %s", (free, state) => {
  expect(diskCheck(join(recordTerminal().cwd, "not/there/yet"), () => free)).toMatchObject({ state });
});

test("a disk is asked how much is free", () => {
  expect(diskCheck(recordTerminal().cwd).what).toMatch(/: \d+\.\d GB free$/);
});

test("the dashboard's files, present and missing", () => {
  const folder = recordTerminal().cwd;
  expect(uiCheck(folder)).toMatchObject({ state: "warn", fix: expect.stringContaining("npm run build") });
  writeFileSync(join(folder, "index.html"), "");
  expect(uiCheck(folder)).toMatchObject({ state: "ok" });
});

describe("Redis", () => {
  test("that is not configured is not looked for", async () => {
    expect(await redisCheck(null)).toBeNull();
  });

  test("that cannot be reached", async () => {
    expect(await redisCheck("redis://127.0.0.1:1")).toMatchObject({
      state: "fail",
      what: expect.stringContaining("ECONNREFUSED"),
      fix: expect.stringContaining("REDIS_URL"),
    });
  });

  test("that answers", async ({ skip }) => {
    const redis = await startTestRedis();
    if (redis === null) return skip();
    onTestFinished(() => redis.stop());
    expect(await redisCheck(redis.url)).toEqual({ state: "ok", what: "Redis answers", fix: null });
  });
});
