// /api/alerts: targets of owners and operators, the test button, and what may not be called.

import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person } from "../../support/gateway/signed-in.ts";
import { type Receiver, startReceiver } from "../../support/network/receiver.ts";

let gateway: TestGateway;
let closed: TestGateway;
let owner: Person;
let acme: string;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  gateway = await startGateway({ env: { SWITCHYARD_ALERTS_PRIVATE_NETWORK: "true" } });
  closed = await startGateway();
  acme = ((await (await gateway.api("POST", "/api/accounts", { name: "Acme" })).json()) as { id: string }).id;
  owner = await join(gateway, { email: "owner@example.com", role: "owner", accountId: acme });
});
afterAll(async () => {
  await gateway.stop();
  await closed.stop();
  await receiver.stop();
});

interface Target {
  readonly id: string;
  readonly accountId: string | null;
  readonly secret: string | null;
  readonly address: string;
}

async function make(call: Person["call"], more: object = {}): Promise<Target> {
  const body = { channel: "webhook", name: "On call", url: `${receiver.url}/hook?token=hidden`, ...more };
  const answer = await call("POST", "/api/alerts", body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as Target;
}

async function listed(call: Person["call"]): Promise<readonly string[]> {
  const { data } = (await (await call("GET", "/api/alerts")).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

it("a test is signed with the secret that was shown, and tells the receiver's own answer", async () => {
  const { id, secret, address } = await make(gateway.api);
  expect(address).toBe(`${receiver.url}/…dden`);
  receiver.answer = (response) => void response.writeHead(418).end("I am a teapot");
  const answer = await gateway.api("POST", `/api/alerts/${id}/test`);
  expect(await answer.json()).toEqual({ isTaken: false, status: 418, answer: "I am a teapot" });
  receiver.answer = (response) => void response.writeHead(204).end();
  const [call] = receiver.received.slice(-1);
  expect(call?.path).toBe("/hook?token=hidden");
  expect(JSON.parse(call?.body ?? "")).toMatchObject({ type: "test" });
  const key = Buffer.from(String(secret).slice("whsec_".length), "base64");
  const signedText = `${call?.headers["webhook-id"]}.${call?.headers["webhook-timestamp"]}.${call?.body}`;
  const signature = createHmac("sha256", key).update(signedText).digest("base64");
  expect(call?.headers["webhook-signature"]).toBe(`v1,${signature}`);
  const rotated = (await (await gateway.api("POST", `/api/alerts/${id}/rotate`)).json()) as Target;
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(secret);
});

it("an owner has the targets of their account, and knows of no others", async () => {
  const installation = await make(gateway.api);
  const own = await make(owner.call, { kinds: ["balance.low"] });
  expect([installation.accountId, own.accountId]).toEqual([null, acme]);
  expect(await listed(owner.call)).toEqual([own.id]);
  expect(await listed(gateway.api)).toEqual(expect.arrayContaining([own.id, installation.id]));
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/test"],
    ["POST", "/rotate"],
    ["GET", "/messages"],
  ] as const) {
    await expectError(await owner.call(method, `/api/alerts/${installation.id}${path}`), { status: 404 });
  }
  await expectError(await owner.call("PATCH", `/api/alerts/${installation.id}`, { name: "Mine" }), { status: 404 });
  const foreign = { channel: "slack", name: "x", url: receiver.url, accountId: "default" };
  await expectError(await owner.call("POST", "/api/alerts", foreign), { status: 400, param: "accountId" });
});

it("a target can be changed and deleted", async () => {
  const { id } = await make(owner.call);
  const quiet = { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" };
  const changed = await owner.call("PATCH", `/api/alerts/${id}`, { quiet, kinds: ["spend.spike"], isPaused: true });
  expect(await changed.json()).toMatchObject({ id, quiet, kinds: ["spend.spike"], isPaused: true, name: "On call" });
  const cleared = await owner.call("PATCH", `/api/alerts/${id}`, { quiet: null, kinds: null });
  expect(await cleared.json()).toMatchObject({ quiet: null, kinds: null, isPaused: true });
  expect((await owner.call("DELETE", `/api/alerts/${id}`)).status).toBe(204);
  expect(await listed(owner.call)).not.toContain(id);
  await expectError(await owner.call("GET", `/api/alerts/${id}`), { status: 404 });
});

it.each([
  [{ url: "http://127.0.0.1:1/" }, "url"],
  [{ url: "http://169.254.169.254/" }, "url"],
  [{ url: "ftp://hooks.example.com" }, "url"],
  [{ quiet: { from: "22:00", to: "07:00", timeZone: "Mars/Olympus" } }, "quiet.timeZone"],
  [{ quiet: { from: "25:00", to: "07:00", timeZone: "UTC" } }, "quiet.from"],
  [{ kinds: [] }, "kinds"],
  [{ accountId: "nobody" }, "accountId"],
])("refuses %o", async (more, param) => {
  const body = { channel: "webhook", name: "On call", url: "https://hooks.example.com/", ...more };
  await expectError(await closed.api("POST", "/api/alerts", body), { status: 400, param });
});

it("tests are limited, and so are targets", async () => {
  const { id } = await make(owner.call);
  for (let time = 0; time < 6; time += 1) await owner.call("POST", `/api/alerts/${id}/test`);
  const refused = await owner.call("POST", `/api/alerts/${id}/test`);
  await expectError(refused, { status: 429, code: "too_many_tests" });
  const made = await listed(owner.call);
  for (let count = made.length; count < 20; count += 1) await make(owner.call);
  const body = { channel: "webhook", name: "One more", url: receiver.url };
  await expectError(await owner.call("POST", "/api/alerts", body), { status: 409, code: "too_many_targets" });
});
