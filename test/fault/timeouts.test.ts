// Each timeout of a provider is its own setting and has its own words in the log.

import { afterEach, describe, expect, test } from "vitest";
import { type Behaviour, chunk, delays, event, hangs, sends, streams } from "../support/fake-provider.ts";
import { type Lab, type LabOptions, openLab, readStream } from "./lab.ts";

const LONG_MS = 15_000;
const SHORT_MS = 150;
const LONG = { connectMs: LONG_MS, firstByteMs: LONG_MS, idleMs: LONG_MS, totalMs: LONG_MS };
const role = chunk("alpha", { role: "assistant" });
const hello = chunk("alpha", { content: "Hello" });

const halfBody: Behaviour = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"id":"x",');
};

/** Never silent for long, never done. */
function repeats(text: string): Behaviour {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(text), 20);
    response.once("close", () => clearInterval(timer));
  };
}

let lab: Lab | null = null;
afterEach(async () => {
  await lab?.close();
  lab = null;
});

async function openShort(timeout: string, options: LabOptions = {}): Promise<Lab> {
  lab = await openLab({ ...options, timeouts: { ...LONG, [timeout]: SHORT_MS } });
  return lab;
}

describe("before an answer the next model is tried", () => {
  test.each<readonly [string, string, boolean, Behaviour, string]>([
    ["firstByteMs", "no headers", false, hangs, "the provider sent no answer within 150 ms"],
    ["firstByteMs", "no headers of a stream", true, hangs, "the provider sent no answer within 150 ms"],
    [
      "firstByteMs",
      "headers, no event",
      true,
      streams([], { ending: "hang" }),
      "the provider sent no answer within 150 ms",
    ],
    ["firstByteMs", "comments only", true, repeats(": ping\n\n"), "the provider sent no answer within 150 ms"],
    ["idleMs", "half a body", false, halfBody, "the provider sent nothing more within 150 ms"],
    [
      "idleMs",
      "a role, then silence",
      true,
      streams([role], { ending: "hang" }),
      "the provider sent nothing more within 150 ms",
    ],
    ["totalMs", "no headers", false, hangs, "the provider did not finish within 150 ms"],
    ["totalMs", "white space for ever", false, repeats(" "), "the provider did not finish within 150 ms"],
    ["totalMs", "comments only", true, repeats(": ping\n\n"), "the provider did not finish within 150 ms"],
  ])("%s: %s (stream: %s)", async (timeout, _name, stream, behaviour, reason) => {
    const { provider, ask, line } = await openShort(timeout);
    provider.once("alpha", behaviour);
    const received = provider.nextRequest();
    const response = await ask({ stream });
    expect(response.status).toBe(200);
    await response.text();
    expect(await (await received).closed).toEqual({ wasCut: true });
    const { attempts } = await line(response.headers.get("x-request-id")!);
    expect(attempts.map(({ model, reason: why }) => [model, why])).toEqual([
      ["alpha", reason],
      ["beta", null],
    ]);
  });
});

describe("within an answer the stream is broken off", () => {
  test.each<readonly [string, Behaviour, string]>([
    ["idleMs", streams([role, hello], { ending: "hang" }), "the provider sent nothing more within 150 ms"],
    ["totalMs", repeats(event(hello)), "the provider did not finish within 150 ms"],
  ])("%s", async (timeout, behaviour, reason) => {
    const { provider, ask, gateway } = await openShort(timeout);
    provider.once("alpha", behaviour);
    const response = await ask({ stream: true });
    const { error, isDone, text } = await readStream(response);
    const requestId = response.headers.get("x-request-id");
    expect(gateway.logged).toContainEqual({
      level: "warn",
      fields: { requestId, model: "alpha", provider: "lab", reason },
      message: "stream broke off",
    });
    expect(text).toMatch(/^Hello/);
    expect(isDone).toBe(false);
    expect(error?.code).toBe("stream_interrupted");
    expect(provider.callsTo("beta")).toBe(0);
  });
});

describe("what does not time out", () => {
  test("a stream that is never silent for long, past firstByteMs and idleMs", async () => {
    lab = await openLab({ timeouts: { ...LONG, firstByteMs: SHORT_MS, idleMs: SHORT_MS } });
    const words = Array.from({ length: 10 }, () => hello);
    const before = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SHORT_MS / 4));
    lab.provider.on("alpha", streams([...words, chunk("alpha", {}, "stop")], { before }));
    const { text, isDone } = await readStream(await lab.ask({ stream: true }));
    expect({ text, isDone }).toEqual({ text: "Hello".repeat(10), isDone: true });
  });

  test("a whole answer that takes longer than idleMs to begin", async () => {
    const { provider, ask } = await openShort("idleMs");
    const late = { choices: [{ index: 0, message: { role: "assistant", content: "late" }, finish_reason: "stop" }] };
    provider.on("alpha", delays(3 * SHORT_MS, sends(200, late)));
    expect(await (await ask()).json()).toMatchObject({ model: "alpha" });
  });
});
