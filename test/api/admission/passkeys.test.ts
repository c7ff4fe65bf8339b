// Passkeys over HTTP: added in a session, used without one, in the audit log, and refused from other sites and addresses.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, PASSWORD, type Person, setUpOperator, visit } from "../../support/gateway/signed-in.ts";
import { makePasskey, usePasskey } from "../../support/identity/authenticator.ts";

let gateway: TestGateway;
let operator: Person;
/** The same gateway under a name, which passkeys need. */
let named: Pick<TestGateway, "url">;
beforeAll(async () => {
  gateway = await startGateway();
  operator = await setUpOperator(gateway);
  named = { url: gateway.url.replace("127.0.0.1", "localhost") };
});
afterAll(() => gateway.stop());

type NewOptions = Parameters<typeof makePasskey>[1];
type UseOptions = Parameters<typeof usePasskey>[1];

const json = async <T>(answer: Response): Promise<T> => (await answer.json()) as T;

async function newPerson(name: string, role: "admin" | "member" | "viewer") {
  const email = `${name}@example.com`;
  const joined = await join(gateway, { email, role, accountId: "default" });
  return { email, person: visit(named, joined.cookie) };
}

async function addPasskey(person: Person) {
  const begun = await person.call("POST", "/api/session/passkeys/options", { password: PASSWORD });
  const { passkey, credential } = makePasskey(named.url, await json<NewOptions>(begun));
  const answer = await person.call("POST", "/api/session/passkeys", { name: "Laptop", credential });
  expect(answer.status).toBe(201);
  return { passkey, ...(await json<{ id: string }>(answer)) };
}

async function signInWith(passkey: Parameters<typeof usePasskey>[2], headers: Record<string, string> = {}) {
  const person = visit(named);
  const options = await json<UseOptions>(await person.call("POST", "/api/session/passkey/options"));
  const body = usePasskey(named.url, options, passkey);
  return { person, answer: await person.call("POST", "/api/session/passkey", body, headers), body };
}

describe("a passkey", () => {
  it("signs a member in with the role and the sight of a member", async () => {
    const { email, person: member } = await newPerson("member", "member");
    const { passkey, id } = await addPasskey(member);
    const { answer, person } = await signInWith(passkey);
    expect(answer.status).toBe(204);
    expect(answer.headers.getSetCookie()[0]).toMatch(/^switchyard_session=[\w-]{43}; .*HttpOnly; SameSite=Strict/);
    expect(await json(await person.call("GET", "/api/session"))).toMatchObject({ user: { email, role: "member" } });
    await expectError(await person.call("GET", "/api/users"), { status: 403, code: "not_permitted" });
    expect(await json(await person.call("GET", "/api/session/passkeys"))).toMatchObject({
      data: [{ id, name: "Laptop", host: "localhost", lastUsedAt: expect.any(String) }],
    });
    expect((await person.call("DELETE", `/api/session/passkeys/${id}`)).status).toBe(204);
    await expectError((await signInWith(passkey)).answer, { status: 401, code: "wrong_passkey" });
    // Removing one ends no session.
    expect((await person.call("GET", "/api/session/passkeys")).status).toBe(200);
  });

  it("is in the audit log with who, and without what was signed", async () => {
    const { email, person } = await newPerson("audited", "admin");
    const { passkey } = await addPasskey(person);
    await signInWith(passkey);
    const { person: stranger, answer } = await signInWith({ ...passkey, credentialId: "AAAA" });
    expect(answer.status).toBe(401);
    await stranger.call("POST", "/api/session/passkey", {});
    const { data } = await json<{ data: readonly Record<string, unknown>[] }>(
      await operator.call("GET", "/api/audit?limit=200"),
    );
    const ofPasskeys = data.filter(({ action }) => /passkey/i.test(String(action)));
    expect(ofPasskeys.slice(0, 3)).toMatchObject([
      { action: "signInWithPasskey", outcome: "refused", actor: { kind: "anonymous" } },
      { action: "signInWithPasskey", outcome: "done", actor: { kind: "user", name: email } },
      { action: "addPasskey", outcome: "done", actor: { name: email }, after: { name: "Laptop", host: "localhost" } },
    ]);
    expect(JSON.stringify(ofPasskeys)).not.toMatch(/clientData|signature|attestationObject|userHandle/);
  });

  it("is neither added nor used from another site, nor without a session", async () => {
    const { person } = await newPerson("careful", "viewer");
    const { passkey } = await addPasskey(person);
    const elsewhere = { "sec-fetch-site": "cross-site" };
    await expectError((await signInWith(passkey, elsewhere)).answer, { status: 403, code: "cross_site" });
    const options = ["/api/session/passkeys/options", { password: PASSWORD }] as const;
    await expectError(await person.call("POST", ...options, elsewhere), { status: 403, code: "cross_site" });
    await expectError(await visit(named).call("POST", ...options), { status: 401, code: "not_signed_in" });
    expect((await gateway.api("GET", "/api/session/passkeys")).status).toBe(403);
  });

  it("needs a host name, and says so", async () => {
    const answer = await visit(gateway).call("POST", "/api/session/passkey/options");
    await expectError(answer, { status: 400, code: "passkeys_need_name" });
  });
});

it("with a public address, passkeys are for that one alone", async () => {
  const published = await startGateway({ env: { SWITCHYARD_PUBLIC_URL: "https://llm.example.com" } });
  const url = published.url.replace("127.0.0.1", "localhost");
  const person = visit({ url });
  const answer = await person.call("POST", "/api/session/passkey/options");
  expect(await json(answer)).toMatchObject({ rpId: "llm.example.com" });
  const elsewhere = { origin: url };
  const refused = await person.call("POST", "/api/session/passkey/options", undefined, elsewhere);
  const { message } = await expectError(refused, { status: 400, code: "passkeys_elsewhere" });
  expect(message).toBe("Passkeys are for https://llm.example.com. Open the dashboard there.");
  await published.stop();
});
