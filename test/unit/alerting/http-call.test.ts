// Calls of receivers that answer, refuse, hang, lie, close or lead somewhere else.

import { afterEach, beforeEach, expect, it } from "vitest";
import { addressProblem, postTo } from "../../../src/alerting/http-call.ts";
import { guardedLookup } from "../../../src/providers/lookup.ts";
import { type Receiver, startReceiver } from "../../support/network/receiver.ts";

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const TERMS = { lookup: guardedLookup(true), allowsPrivate: true, timeoutMs: 10_000 };
const MESSAGE = { headers: { "webhook-id": "msg_1" }, body: '{"a":1}' };

const call = (terms: Partial<typeof TERMS> = {}, url = receiver.url) => postTo(url, MESSAGE, { ...TERMS, ...terms });

it("sends headers and body, and gives the receiver's own answer", async () => {
  receiver.answer = (response) => void response.writeHead(202).end("thank you");
  expect(await call()).toEqual({ isTaken: true, isFinal: false, status: 202, answer: "thank you" });
  expect(receiver.received).toMatchObject([
    { body: MESSAGE.body, headers: { "webhook-id": "msg_1", "content-type": "application/json" } },
  ]);
});

it.each([
  [500, false],
  [404, false],
  [410, true],
])("a status of %i is a failure", async (status, isFinal) => {
  receiver.answer = (response) => void response.writeHead(status).end("no such hook");
  expect(await call()).toEqual({ isTaken: false, isFinal, status, answer: "no such hook" });
});

it("a redirect is not followed", async () => {
  const target = await startReceiver();
  receiver.answer = (response) => void response.writeHead(307, { location: `${target.url}/inside` }).end();
  const receipt = await call();
  expect(receipt).toMatchObject({ isTaken: false, status: 307 });
  expect(receipt.answer).toContain(`${target.url}/inside`);
  expect(target.received).toEqual([]);
  await target.stop();
});

it("a receiver that hangs ends with the time limit", async () => {
  receiver.answer = () => undefined;
  expect(await call({ timeoutMs: 50 })).toEqual({
    ...{ isTaken: false, isFinal: false, status: null },
    answer: "no answer within 0.05 s",
  });
});

it("a body that never ends, or breaks off, does not change the status", async () => {
  receiver.answer = (response) => {
    response.writeHead(200);
    const more = (): boolean => response.write("x".repeat(1_000));
    const timer = setInterval(more, 1);
    response.on("close", () => clearInterval(timer));
  };
  expect(await call()).toMatchObject({ isTaken: true, status: 200, answer: "x".repeat(2_048) });
  receiver.answer = (response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("only this", () => response.destroy());
  };
  expect(await call()).toMatchObject({ isTaken: true, status: 200, answer: "only this" });
});

it("a receiver that closes, or does not speak HTTP, is a failure", async () => {
  receiver.answer = (response) => void response.destroy();
  expect(await call()).toMatchObject({ isTaken: false, isFinal: false, status: null });
  receiver.answer = (response) => void response.socket?.end("220 mail.example ESMTP\r\n");
  expect(await call()).toMatchObject({ isTaken: false, status: null });
});

it("addresses of private networks are refused, by number and by name", async () => {
  const refused = await call({ allowsPrivate: false });
  expect(refused).toMatchObject({ isTaken: false, isFinal: true, answer: "the address is one of a private network" });
  const byName = receiver.url.replace("127.0.0.1", "localhost");
  const named = await call({ allowsPrivate: false, lookup: guardedLookup(false) }, byName);
  expect(named).toMatchObject({ isTaken: false, status: null });
  expect(named.answer).toBe("localhost leads to …, an address of a private network");
  expect(receiver.received).toEqual([]);
});

it("no error tells an address of the network", async () => {
  const { url } = receiver;
  await receiver.stop();
  const named = await call({}, url.replace("127.0.0.1", "localhost"));
  expect(named).toMatchObject({ isTaken: false, status: null, answer: expect.stringContaining("ECONNREFUSED") });
  expect(named.answer).not.toMatch(/127\.0\.0\.1|::1/);
  expect((await call({}, url)).answer).not.toContain("127.0.0.1");
});

it.each([
  ["https://hooks.example.com/a", null],
  ["http://[::1]/", "the address is one of a private network"],
  ["http://2130706433/", "the address is one of a private network"],
  ["http://10.1.2.3/", "the address is one of a private network"],
  ["http://169.254.169.254/latest", "the address is never called"],
  ["http://metadata.google.internal/", "the address is never called"],
  ["http://user:word@hooks.example.com/", "the address holds a user name"],
  ["file:///etc/passwd", "the address does not begin with http:// or https://"],
  ["hooks.example.com", "the address is not valid"],
])("%s", (url, problem) => {
  expect(addressProblem(url, false)).toBe(problem);
});
