// Who may use /api, and whose things are whose. Behaviour 8.2, 8.3.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

describe("/api without the admin token", () => {
  const paths = ["/api/keys", "/api/profiles", "/api/accounts", "/api/models", "/api/providers"];

  it.each(paths)("is 401 at %s", async (path) => {
    const authorizations = [
      "",
      `Bearer ${gateway.key}`,
      "Bearer wrong",
      `Basic ${ADMIN_TOKEN}`,
      `Bearer ${ADMIN_TOKEN}x`,
    ];
    for (const authorization of authorizations) {
      const headers = authorization === "" ? {} : { authorization };
      await expectError(await fetch(`${gateway.url}${path}`, { headers }), { status: 401 });
    }
  });

  it("is 401 before the body is looked at", async () => {
    const answer = await fetch(`${gateway.url}/api/keys`, { method: "POST", body: "{" });
    await expectError(answer, { status: 401 });
  });

  it("is closed where no token is configured, and says how to set one", async () => {
    const closed = await startGateway({ env: { SWITCHYARD_ADMIN_TOKEN: "" } });
    try {
      const answer = await fetch(`${closed.url}/api/keys`, { headers: { authorization: "Bearer " } });
      const error = await expectError(answer, { status: 401 });
      expect(error.message).toContain("SWITCHYARD_ADMIN_TOKEN");
    } finally {
      await closed.stop();
    }
  });
});

describe("accounts", () => {
  it("are made and listed", async () => {
    const made = await gateway.api("POST", "/api/accounts", { name: "  Acme  " });
    expect(made.status).toBe(201);
    const account = (await made.json()) as { id: string };
    expect(account).toEqual({
      id: expect.stringMatching(/^account_/),
      name: "Acme",
      billingMode: null,
      createdAt: expect.any(String),
    });
    const { data } = (await (await gateway.api("GET", "/api/accounts")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(["default", account.id]));
  });

  it.each([
    [{}],
    [{ name: "" }],
    [{ name: "  " }],
    [{ name: 5 }],
    [{ name: "x".repeat(201) }],
    [{ name: "x", role: "admin" }],
  ])("are refused with %j", async (body) => {
    await expectError(await gateway.api("POST", "/api/accounts", body), { status: 400 });
  });
});

describe("bodies", () => {
  it("a field nobody knows is named in plain words", async () => {
    const answer = await gateway.api("POST", "/api/accounts", { name: "x", role: "admin" });
    expect(await answer.json()).toMatchObject({ error: { message: "Unknown field 'role'.", param: "role" } });
  });

  it("are short; only the playground takes what a request may be", async () => {
    const text = "word ".repeat(300_000);
    await expectError(await gateway.api("POST", "/api/accounts", { name: text }), { status: 413 });
    const decided = await gateway.api("POST", "/api/playground/decide", { prompt: "hello", user: text });
    expect(decided.status).toBe(200);
  });
});

describe("another account's things", () => {
  it("answer like missing ones", async () => {
    const made = await gateway.api("POST", "/api/accounts", { name: "other" });
    const other = ((await made.json()) as { id: string }).id;
    const profile = (await (await gateway.api("POST", "/api/profiles", { name: "mine" })).json()) as { id: string };
    const key = (await (await gateway.api("POST", "/api/keys", { name: "mine" })).json()) as { id: string };
    const calls: readonly (readonly [string, string, string, object?])[] = [
      ["GET", "/api/profiles/", profile.id],
      ["PUT", "/api/profiles/", profile.id, { name: "stolen" }],
      ["DELETE", "/api/profiles/", profile.id],
      ["DELETE", "/api/keys/", key.id],
    ];
    for (const [method, path, id, body] of calls) {
      const theirs = await expectError(await gateway.api(method, `${path}${id}?account=${other}`, body), {
        status: 404,
      });
      const missingId = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      const missing = await expectError(await gateway.api(method, `${path}${missingId}?account=${other}`, body), {
        status: 404,
      });
      expect(theirs.message.replace(id, "ID")).toBe(missing.message.replace(missingId, "ID"));
    }
    const listed = (await (await gateway.api("GET", `/api/keys?account=${other}`)).json()) as { data: unknown[] };
    expect(listed).toEqual({ data: [], next: null, total: 0 });
    await expectError(await gateway.api("POST", `/api/keys?account=${other}`, { name: "x", profile: profile.id }), {
      status: 400,
      param: "profile",
    });
    expect(await (await gateway.api("GET", `/api/profiles/${profile.id}`)).json()).toMatchObject({ name: "mine" });
  });

  it.each(["nobody", "", "%00", "a".repeat(300), "'%20OR%201=1--"])(
    "an account %j that is not there is 404",
    async (id) => {
      for (const path of ["/api/keys", "/api/profiles"]) {
        await expectError(await gateway.api("GET", `${path}?account=${id}`), { status: 404, param: "account" });
      }
    },
  );

  it("an account given twice is 400", async () => {
    await expectError(await gateway.api("GET", "/api/keys?account=default&account=other"), {
      status: 400,
      param: "account",
    });
  });
});

describe("lists", () => {
  it.each(["/api/keys", "/api/profiles", "/api/accounts"])("%s goes page by page, each entry once", async (path) => {
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
    for (const name of names) expect((await gateway.api("POST", path, { name })).status).toBe(201);
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const query: string = next === null ? "?limit=3" : `?limit=3&after=${next}`;
      const page = (await (await gateway.api("GET", path + query)).json()) as {
        data: { id: string; name: string }[];
        next: string | null;
      };
      expect(page.data.length).toBeLessThanOrEqual(3);
      if (page.next !== null) expect(page.next).toBe(page.data.at(-1)?.id);
      seen.push(...page.data.map(({ name }) => name));
      next = page.next;
    } while (next !== null);
    expect(seen.filter((name) => name.startsWith("page-")).sort()).toEqual(names);
    expect(new Set(seen.filter((name) => name.startsWith("page-"))).size).toBe(names.length);
  });

  it.each(["0", "-1", "501", "1.5", "x", "", "1e9", "3&limit=4"])("a limit of %j is 400", async (limit) => {
    await expectError(await gateway.api("GET", `/api/keys?limit=${limit}`), { status: 400, param: "limit" });
  });

  it("a place that does not exist is the end or a clear error", async () => {
    for (const after of ["key_000000000000000000000000", "%00", "'"]) {
      const answer = await gateway.api("GET", `/api/keys?after=${after}`);
      expect([200, 400]).toContain(answer.status);
    }
  });
});
