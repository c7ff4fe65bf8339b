// Every route of /api for every role, on a running gateway: what the table of permissions says is what happens.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { USER_ROLES } from "../../../src/core/people.ts";
import { apiRoutes } from "../../../src/http/api/routes.ts";
import { isPermitted, PERMISSIONS, type Permission } from "../../../src/http/exchange/permissions.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
const people = new Map<string, Person>();

beforeAll(async () => {
  gateway = await startGateway();
  people.set("operator", await setUpOperator(gateway));
  for (const role of USER_ROLES.filter((each) => each !== "operator")) {
    people.set(role, await join(gateway, { email: `${role}@example.com`, role, accountId: "default" }));
  }
  people.set("nobody", visit(gateway));
});
afterAll(() => gateway.stop());

const guarded = apiRoutes().filter(({ access = "manage" }) => access in PERMISSIONS);

/** Without a body and with an id that nobody has, a call that is allowed fails later, or reads. */
async function outcomeOf(person: Person, method: string, path: string): Promise<{ status: number; code: unknown }> {
  const answer = await person.call(method.toUpperCase(), path.replaceAll(/:\w+/g, "none_0"));
  if (answer.status < 400) {
    await answer.body?.cancel();
    return { status: answer.status, code: null };
  }
  const { error } = (await answer.json()) as { error: { code: unknown } };
  return { status: answer.status, code: error.code };
}

/** Calls that reach out even without a body. */
const ACTING = new Set(["post /api/prices/check", "post /api/providers/discover"]);

describe.each([...USER_ROLES, "nobody"])("as %s", (role) => {
  it.each(guarded.map(({ method, path, access = "manage" }) => [method, path, access as Permission] as const))(
    "%s %s",
    async (method, path, access) => {
      const isAllowed = role !== "nobody" && isPermitted(role as (typeof USER_ROLES)[number], access);
      if (isAllowed && ACTING.has(`${method} ${path}`)) return;
      const { status, code } = await outcomeOf(people.get(role) as Person, method, path);
      if (role === "nobody") expect([status, code]).toEqual([401, "not_signed_in"]);
      else if (isAllowed) expect(["not_permitted", "operators_only"]).not.toContain(code);
      else expect([status, code]).toEqual([403, access === "operator" ? "operators_only" : "not_permitted"]);
    },
  );
});

it("the table leaves no route without a permission, and none of the permissions unused", () => {
  expect(guarded.length).toBeGreaterThan(80);
  const used = new Set(guarded.map(({ access = "manage" }) => access));
  expect([...used].sort()).toEqual(Object.keys(PERMISSIONS).sort());
});
