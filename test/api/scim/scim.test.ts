// People and groups managed by SCIM, in the forms that Okta and Entra send, on both databases.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";
import { type IdentityServer, startIdentityServer } from "../../support/identity/identity-server.ts";
import { describeStores } from "../../support/stores/stores.ts";
import { entra, okta, USER } from "./requests.ts";

const NOBODY = "user_0";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read what SCIM writes.
  readonly body: any;
}

type Scim = (method: string, path: string, body?: object) => Promise<Answer>;

await describeStores("SCIM", ({ url }) => {
  let idp: IdentityServer;
  let gateway: TestGateway;
  let operator: Person;
  let admin: Person;
  let scim: Scim;
  let otherScim: Scim;

  beforeAll(async () => {
    idp = await startIdentityServer();
    gateway = await startGateway({ database: url, yaml: yaml(idp.issuer) });
    await idp.open(gateway.url);
    operator = await setUpOperator(gateway);
    const other = ((await (await gateway.api("POST", "/api/accounts", { name: "Other" })).json()) as { id: string }).id;
    admin = await join(gateway, { email: "admin@acme.example", role: "admin", accountId: "default" });
    await admin.call("POST", "/api/teams", { name: "search" });
    scim = await tokenOf(admin);
    otherScim = await tokenOf(await join(gateway, { email: "admin@other.example", role: "admin", accountId: other }));
  });
  afterAll(async () => {
    await gateway.stop();
    await idp.close();
  });

  async function tokenOf(person: Person, query = ""): Promise<Scim> {
    const made = await person.call("POST", `/api/scim-tokens${query}`, { name: "Okta" });
    expect(made.status).toBe(201);
    const { token, url: base } = (await made.json()) as { token: string; url: string };
    expect(base).toBe(`${gateway.url}/scim/v2`);
    return withToken(token);
  }

  function withToken(token: string): Scim {
    return async (method, path, body) => {
      const answer = await fetch(`${gateway.url}/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        type: answer.headers.get("content-type") ?? "",
        location: answer.headers.get("location"),
        body: text === "" ? null : JSON.parse(text),
      };
    };
  }

  const created = async (body: object, at: string = "/Users"): Promise<string> => {
    const answer = await scim("POST", at, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id;
  };
  const filter = (text: string): string => `?filter=${encodeURIComponent(text)}`;

  describe("a user", () => {
    it("is searched, created, found, replaced and deleted as Okta does it", async () => {
      const [email, path] = [
        "okta@acme.example",
        `/Users${filter('userName eq "okta@acme.example"')}&startIndex=1&count=100`,
      ];
      expect((await scim("GET", path)).body).toMatchObject({ totalResults: 0, Resources: [] });
      const made = await scim("POST", "/Users", okta.user(email));
      expect(made).toMatchObject({ status: 201, type: expect.stringContaining("application/scim+json") });
      expect(made.location).toBe(`${gateway.url}/scim/v2/Users/${made.body.id}`);
      expect(made.body).toMatchObject({ schemas: [USER], userName: email, active: true, externalId: "00u1a2b3c4" });
      expect(JSON.stringify(made.body)).not.toContain("1mz050nq");
      const found = await scim("GET", path);
      expect(found.body).toMatchObject({ totalResults: 1, startIndex: 1, itemsPerPage: 1 });
      expect(found.body.Resources[0]).toEqual(made.body);
      const changed = okta.user(email, { name: { givenName: "Augusta", familyName: "King" }, active: false });
      const put = await scim("PUT", `/Users/${made.body.id}`, changed);
      expect(put.body).toMatchObject({ name: { givenName: "Augusta" }, active: false, id: made.body.id });
      // A full user without the flag does not bring anybody back.
      const { active: _, ...flagless } = okta.user(email);
      expect((await scim("PUT", `/Users/${made.body.id}`, flagless)).body.active).toBe(false);
      expect((await scim("POST", "/Users", okta.user(email))).body).toMatchObject({
        status: "409",
        scimType: "uniqueness",
      });
      expect((await scim("DELETE", `/Users/${made.body.id}`)).status).toBe(204);
      expect(await scim("GET", `/Users/${made.body.id}`)).toMatchObject({ status: 404, body: { status: "404" } });
    });

    it("is changed by every form of Entra, and other schemas change nothing", async () => {
      const id = await created(entra.user("grace@acme.example"));
      const patched = await scim("PATCH", `/Users/${id}`, entra.changeMail("hopper@acme.example"));
      expect(patched.body).toMatchObject({
        userName: "grace@acme.example",
        name: { familyName: "Murray", givenName: "Grace" },
        emails: [{ value: "hopper@acme.example", type: "work", primary: true }],
      });
      const whole = await scim("PATCH", `/Users/${id}`, entra.changeWhole("Rear Admiral"));
      expect(whole.body).toMatchObject({ displayName: "Rear Admiral", name: { givenName: "Amazing" }, active: true });
      expect((await scim("PATCH", `/Users/${id}`, entra.setActive(false))).body.active).toBe(false);
      expect((await scim("PATCH", `/Users/${id}`, entra.setActive(true))).body.active).toBe(true);
      for (const text of [
        'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
        'displayName eq "Rear Admiral"',
        'userName eq "GRACE@acme.example"',
        'emails[type eq "work"].value eq "hopper@acme.example"',
        `id eq "${id}" and userName eq "grace@acme.example"`,
      ]) {
        expect(
          (await scim("GET", `/Users${filter(text)}`)).body.Resources.map((each: { id: string }) => each.id),
        ).toEqual([id]);
      }
    });

    it("of the dashboard is found by the e-mail address and deactivated with it", async () => {
      await join(gateway, { email: "known@acme.example", role: "member", accountId: "default" });
      const [found] = (await scim("GET", `/Users${filter('userName eq "known@acme.example"')}`)).body.Resources;
      expect((await scim("PATCH", `/Users/${found.id}`, okta.setActive(false))).body.active).toBe(false);
      const signIn = await visit(gateway).call("POST", "/api/session", {
        email: "known@acme.example",
        password: PASSWORD,
      });
      expect([signIn.status, ((await signIn.json()) as { error: { code: string } }).error.code]).toEqual([
        403,
        "deactivated",
      ]);
    });

    it("is listed by place, with no more than was asked for", async () => {
      const all = (await scim("GET", "/Users")).body;
      const second = (await scim("GET", "/Users?startIndex=2&count=1&attributes=userName")).body;
      expect(second).toMatchObject({ totalResults: all.totalResults, startIndex: 2, itemsPerPage: 1 });
      expect(second.Resources).toEqual([
        { schemas: [USER], id: all.Resources[1].id, userName: all.Resources[1].userName },
      ]);
      expect((await scim("GET", "/Users?count=0")).body).toMatchObject({
        totalResults: all.totalResults,
        Resources: [],
      });
    });
  });

  describe("somebody who is deactivated", () => {
    it("loses session, keys and tokens at once, and gets back only what ended then", async () => {
      const email = "departed@acme.example";
      const person = await join(gateway, { email, role: "member", accountId: "default" });
      const make = async (name: string) =>
        (await (await person.call("POST", "/api/keys", { name })).json()) as { id: string; key: string };
      const [kept, revoked] = [await make("kept"), await make("revoked")];
      await person.call("DELETE", `/api/keys/${revoked.id}`);
      const ask = async (bearer: string) =>
        (await gateway.post("/v1/chat/completions", HELLO, { authorization: `Bearer ${bearer}` })).status;
      idp.person = { subject: "departed", claims: { groups: ["staff"], email, email_verified: true } };
      const token = await idp.token();
      expect([await ask(kept.key), await ask(token), await ask(revoked.key)]).toEqual([200, 200, 401]);
      const [{ id }] = (await scim("GET", `/Users${filter(`userName eq "${email}"`)}`)).body.Resources;

      expect((await scim("PATCH", `/Users/${id}`, entra.setActive(false))).status).toBe(200);
      expect([await ask(kept.key), await ask(token), await ask(await idp.token({ jti: "2" }))]).toEqual([
        401, 401, 401,
      ]);
      expect((await person.call("GET", "/api/keys")).status).toBe(401);
      expect((await gateway.api("POST", "/api/keys", { name: "new", member: id })).status).toBe(400);
      const listed = (await (await admin.call("GET", "/api/users")).json()) as {
        data: { id: string; deactivatedAt: string }[];
      };
      expect(listed.data.find((each) => each.id === id)?.deactivatedAt).toMatch(/^\d{4}-/);

      expect((await scim("PATCH", `/Users/${id}`, okta.setActive(true))).body.active).toBe(true);
      expect([await ask(kept.key), await ask(token), await ask(revoked.key)]).toEqual([200, 200, 401]);
      expect((await person.call("GET", "/api/keys")).status).toBe(401);

      // Revoked by an admin while they are away, a key stays away.
      await scim("PATCH", `/Users/${id}`, okta.setActive(false));
      await admin.call("DELETE", `/api/keys/${kept.id}`);
      await scim("PATCH", `/Users/${id}`, okta.setActive(true));
      expect(await ask(kept.key)).toBe(401);

      expect((await scim("DELETE", `/Users/${id}`)).status).toBe(204);
      expect(await ask(token)).toBe(401);
      await created(okta.user(email));
      expect(await ask(token)).toBe(200);
    });

    it("is kept out from the start, and under every new name", async () => {
      const ask = async (email: string) => {
        idp.person = { subject: email, claims: { groups: ["staff"], email, email_verified: true } };
        const authorization = `Bearer ${await idp.token()}`;
        return (await gateway.post("/v1/chat/completions", HELLO, { authorization })).status;
      };
      const [first, second] = ["inactive@acme.example", "renamed@acme.example"];
      expect([await ask(first), await ask(second)]).toEqual([200, 200]);
      const id = await created(okta.user(first, { active: false, externalId: "inactive" }));
      expect([await ask(first), await ask(second)]).toEqual([401, 200]);
      const renamed = { ...okta.user(second, { active: false, externalId: "inactive" }) };
      expect((await scim("PUT", `/Users/${id}`, renamed)).status).toBe(200);
      expect([await ask(first), await ask(second)]).toEqual([401, 401]);
      await scim("PATCH", `/Users/${id}`, okta.setActive(true));
      expect([await ask(first), await ask(second)]).toEqual([200, 200]);
    });
  });

  describe("groups", () => {
    const granted = async (id: string) => {
      const { data } = (await (await admin.call("GET", "/api/users")).json()) as {
        data: { id: string; role: string; teams: string[] }[];
      };
      const found = data.find((each) => each.id === id);
      return [found?.role, found?.teams.length];
    };

    it("give roles and teams by the rules, as Entra changes them", async () => {
      const [one, two] = [await created(entra.user("one@acme.example")), await created(okta.user("two@acme.example"))];
      const group = await created(entra.group("Payers", "8aa1a0c0-0000-4000-8000-000000000001"), "/Groups");
      expect((await scim("PATCH", `/Groups/${group}`, entra.add(one, two))).status).toBe(204);
      expect(await granted(one)).toEqual(["billing", 0]);
      const searchers = await created(entra.group("Searchers", "searchers-id"), "/Groups");
      await scim("PATCH", `/Groups/${searchers}`, entra.add(one));
      expect(await granted(one)).toEqual(["billing", 1]);
      const read = await scim("GET", `/Users/${one}`);
      expect(read.body.groups.map((each: { display: string }) => each.display)).toEqual(["Payers", "Searchers"]);
      await scim("PATCH", `/Groups/${group}`, entra.remove(one));
      // The identity provider's own id of a group counts like its name.
      expect(await granted(one)).toEqual(["billing", 1]);
      await scim("PATCH", `/Groups/${searchers}`, entra.rename("Nobody knows"));
      expect(await granted(one)).toEqual(["billing", 0]);
      await scim("PATCH", `/Groups/${searchers}`, entra.remove(one));
      // Without a rule that matches, the default role.
      expect(await granted(one)).toEqual(["viewer", 0]);
      expect((await scim("GET", `/Groups/${group}?excludedAttributes=members`)).body).not.toHaveProperty("members");
      const asked = `/Groups${filter(`id eq "${group}" and members eq "${two}"`)}&attributes=id`;
      expect((await scim("GET", asked)).body.totalResults).toBe(1);
      await scim("DELETE", `/Groups/${group}`);
      expect(await granted(two)).toEqual(["viewer", 0]);
      expect((await scim("GET", `/Groups/${group}`)).status).toBe(404);
    });

    it("are changed as Okta does it, and a repeated change does no harm", async () => {
      const [one, two] = [
        await created(okta.user("three@acme.example")),
        await created(okta.user("four@acme.example")),
      ];
      const group = await created(okta.group("Everyone"), "/Groups");
      const members = async () =>
        (await scim("GET", `/Groups/${group}`)).body.members.map((each: { value: string }) => each.value);
      for (const body of [okta.add(one, "x"), okta.add(one, "x"), okta.add(two, "y")])
        await scim("PATCH", `/Groups/${group}`, body);
      expect((await members()).sort()).toEqual([one, two].sort());
      await scim("PATCH", `/Groups/${group}`, okta.remove(one));
      await scim("PATCH", `/Groups/${group}`, okta.remove(one));
      expect(await members()).toEqual([two]);
      await scim("PATCH", `/Groups/${group}`, okta.replace(one));
      expect(await members()).toEqual([one]);
      await scim("PATCH", `/Groups/${group}`, okta.rename(group, "All"));
      expect((await scim("GET", `/Groups${filter('displayName eq "all"')}`)).body.Resources[0].id).toBe(group);
      expect((await scim("PUT", `/Groups/${group}`, { displayName: "All", members: [{ value: two }] })).status).toBe(
        200,
      );
      expect(await members()).toEqual([two]);
      expect((await scim("POST", "/Groups", okta.group("All"))).body).toMatchObject({
        status: "409",
        scimType: "uniqueness",
      });
    });

    it("of an admin's token make no operator, changed at once they give all", async () => {
      const user = await created(okta.user("racer@acme.example"));
      const [a, b] = [await created(okta.group("Platform"), "/Groups"), await created(okta.group("Racers"), "/Groups")];
      await Promise.all([a, b].map((group) => scim("PATCH", `/Groups/${group}`, okta.add(user, "r"))));
      expect(await granted(user)).toEqual(["viewer", 1]);
    });
  });

  describe("one organisation", () => {
    it("sees, matches and changes nobody of another", async () => {
      const id = await created(okta.user("mine@acme.example"));
      const group = await created(okta.group("Mine"), "/Groups");
      expect((await otherScim("GET", `/Users${filter('userName eq "mine@acme.example"')}`)).body.totalResults).toBe(0);
      for (const [method, path, body] of [
        ["GET", `/Users/${id}`],
        ["PUT", `/Users/${id}`, okta.user("mine@acme.example")],
        ["PATCH", `/Users/${id}`, okta.setActive(false)],
        ["DELETE", `/Users/${id}`],
        ["GET", `/Groups/${group}`],
        ["PATCH", `/Groups/${group}`, okta.rename(group, "Theirs")],
        ["DELETE", `/Groups/${group}`],
      ] as const) {
        expect([method, path, (await otherScim(method, path, body)).status]).toEqual([method, path, 404]);
      }
      expect(await otherScim("POST", "/Users", okta.user("mine@acme.example"))).toMatchObject({ status: 409 });
      const theirs = (await otherScim("POST", "/Groups", okta.group("Theirs"))).body.id;
      expect(await otherScim("PATCH", `/Groups/${theirs}`, okta.add(id, "x"))).toMatchObject({
        status: 400,
        body: { scimType: "invalidValue" },
      });
      expect((await scim("GET", `/Users/${id}`)).body.active).toBe(true);
    });

    it("reaches operators with an operator's token alone, and never the last one", async () => {
      const own = await tokenOf(operator, "?account=default");
      const path = `/Users${filter('userName eq "operator@example.com"')}`;
      expect((await scim("GET", path)).body.totalResults).toBe(0);
      const [{ id }] = (await own("GET", path)).body.Resources;
      expect((await scim("PATCH", `/Users/${id}`, okta.setActive(false))).status).toBe(404);
      expect((await own("PATCH", `/Users/${id}`, okta.setActive(false))).body).toMatchObject({
        status: "409",
        scimType: "mutability",
      });
      expect((await own("DELETE", `/Users/${id}`)).status).toBe(409);
      expect((await operator.call("GET", "/api/users")).status).toBe(200);
    });

    it("reaches no operators in an account of a customer, even with an operator's token", async () => {
      const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "Customer" })).json()) as {
        id: string;
      };
      const theirs = await tokenOf(operator, `?account=${id}`);
      const { id: member } = (await theirs("POST", "/Users", okta.user("climber@customer.example"))).body;
      const members = [{ value: member }];
      expect((await theirs("POST", "/Groups", { displayName: "Platform", members })).status).toBe(201);
      const users = (await (await operator.call("GET", `/api/users?account=${id}`)).json()) as {
        data: { id: string; role: string }[];
      };
      expect(users.data.find((each) => each.id === member)?.role).toBe("viewer");
    });
  });

  describe("errors and tokens", () => {
    it.each([
      ["GET", `/Users${filter('userName co "a"')}`, undefined, 400, "invalidFilter"],
      ["GET", `/Users${filter('nickName eq "a"')}`, undefined, 400, "invalidFilter"],
      ["GET", "/Users?count=many", undefined, 400, "invalidValue"],
      ["POST", "/Users", { active: true }, 400, "invalidValue"],
      ["POST", "/Users", { userName: "nobody" }, 400, "invalidValue"],
      ["POST", "/Users", { userName: "x@acme.example", active: "maybe" }, 400, "invalidValue"],
      ["POST", "/Groups", {}, 400, "invalidValue"],
      ["PATCH", `/Users/${NOBODY}`, {}, 404, undefined],
    ] as const)("%s %s is SCIM's error", async (method, path, body, status, scimType) => {
      const answer = await scim(method, path, body);
      expect(answer.body).toMatchObject({
        schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
        status: String(status),
        detail: expect.any(String),
      });
      expect([answer.status, answer.body.scimType]).toEqual([status, scimType]);
    });

    it("a PATCH that says nothing that can be done changes nothing", async () => {
      const id = await created(okta.user("patch@acme.example"));
      for (const body of [
        {},
        { Operations: [] },
        { Operations: [{ op: "move", path: "active", value: false }] },
        { Operations: [{ op: "replace", path: "emails[", value: false }] },
        { Operations: [{ op: "remove" }] },
        {
          Operations: [
            { op: "replace", path: "active", value: false },
            { op: "remove", path: "userName" },
          ],
        },
      ]) {
        expect((await scim("PATCH", `/Users/${id}`, body)).status).toBe(400);
      }
      expect((await scim("GET", `/Users/${id}`)).body).toMatchObject({ active: true, userName: "patch@acme.example" });
    });

    it("the service describes itself", async () => {
      expect((await scim("GET", "/ServiceProviderConfig")).body).toMatchObject({ patch: { supported: true } });
      expect((await scim("GET", "/ResourceTypes")).body.totalResults).toBe(2);
      expect((await scim("GET", "/Schemas")).body.Resources.map((each: { name: string }) => each.name)).toEqual([
        "User",
        "Group",
      ]);
    });

    it("a revoked token, an API key and no token are refused, and a token opens nothing else", async () => {
      const made = (await (await admin.call("POST", "/api/scim-tokens", { name: "short" })).json()) as {
        id: string;
        token: string;
      };
      expect((await withToken(made.token)("GET", "/Users")).status).toBe(200);
      const elsewhere = await fetch(`${gateway.url}/api/users`, { headers: { authorization: `Bearer ${made.token}` } });
      expect(elsewhere.status).toBe(401);
      expect((await otherScim("GET", "/Users")).status).toBe(200);
      expect((await admin.call("DELETE", `/api/scim-tokens/${made.id}`)).status).toBe(204);
      for (const token of [made.token, `scim_${"x".repeat(43)}`, "sk-service-none"]) {
        expect(await withToken(token)("GET", "/Users")).toMatchObject({ status: 401, body: { status: "401" } });
      }
      expect((await fetch(`${gateway.url}/scim/v2/Users`)).status).toBe(401);
      const listed = await (await admin.call("GET", "/api/scim-tokens")).text();
      expect(listed).toContain('"name":"Okta"');
      expect(listed).not.toMatch(/scim_[\w-]{43}/);
    });

    it("is in the audit log of the organisation, without secrets", async () => {
      const id = await created(okta.user("told@acme.example"));
      await scim("PATCH", `/Users/${id}`, okta.setActive(false));
      const text = await (await admin.call("GET", "/api/audit?limit=20")).text();
      const { data } = JSON.parse(text) as {
        data: { action: string; object: string; actor: { name: string }; before: object; after: object }[];
      };
      const entry = data.find(({ action }) => action === "patchScimUser");
      expect(entry).toMatchObject({ object: `Users/${id}`, actor: { name: "SCIM token Okta" } });
      expect([entry?.before, entry?.after]).toMatchObject([{ active: true }, { active: false }]);
      expect(data.find(({ action }) => action === "createScimUser")?.object).toBe(`Users/${id}`);
      const tokens = await (await admin.call("GET", "/api/audit?action=createScimToken")).text();
      expect(tokens).toContain("createScimToken");
      expect(text + tokens).not.toMatch(/1mz050nq|scim_[\w-]{43}/);
    });
  });
});

function yaml(issuer: string): string {
  return `
identityProviders:
  idp:
    issuer: ${issuer}
    clientId: dashboard
    audiences: [switchyard-api]
    defaultRole: viewer
    rules:
      - { claim: groups, value: Platform, role: operator }
      - { claim: groups, value: Payers, role: billing }
      - { claim: groups, value: searchers-id, role: billing }
      - { claim: groups, value: Searchers, team: search }
      - { claim: groups, value: Racers, team: search }
      - { claim: groups, value: staff, account: default }
`;
}
