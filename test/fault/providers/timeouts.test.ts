// Each timeout of a provider is its own setting and has its own words in the log.

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Behaviour, chunk, delays, event, hangs, sends, streams } from "../../support/providers/fake-provider.ts";
import { type Lab, openLab, readStream } from "../lab.ts";

const LONG_MS = 60_000;
/** Enough for a busy machine to hear a provider that does answer. */
const SHORT_MS = 1_500;
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

async function inLab(timeouts: Readonly<Record<string, number>>, work: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = await openLab({ timeouts: { ...LONG, ...timeouts } });
  try {
    await work(lab);
  } finally {
    await lab.close();
  }
}

describe.concurrent("before an answer the next model is tried", () => {
  test.each<readonly [string, string, boolean, Behaviour, string]>([
    ["firstByteMs", "no headers", false, hangs, "the provider sent no answer within 1500 ms"],
    ["firstByteMs", "no headers of a stream", true, hangs, "the provider sent no answer within 1500 ms"],
    [
      "firstByteMs",
      "headers, no event",
      true,
      streams([], { ending: "hang" }),
      "the provider sent no answer within 1500 ms",
    ],
    ["firstByteMs", "comments only", true, repeats(": ping\n\n"), "the provider sent no answer within 1500 ms"],
    ["idleMs", "half a body", false, halfBody, "the provider sent nothing more within 1500 ms"],
    [
      "idleMs",
      "a role, then silence",
      true,
      streams([role], { ending: "hang" }),
      "the provider sent nothing more within 1500 ms",
    ],
    ["totalMs", "no headers", false, hangs, "the provider did not finish within 1500 ms"],
    ["totalMs", "white space for ever", false, repeats(" "), "the provider did not finish within 1500 ms"],
    ["totalMs", "comments only", true, repeats(": ping\n\n"), "the provider did not finish within 1500 ms"],
  ])("%s: %s (stream: %s)", async (timeout, _name, stream, behaviour, reason) => {
    await inLab({ [timeout]: SHORT_MS }, async ({ provider, ask, line }) => {
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
});

describe.concurrent("within an answer the stream is broken off", () => {
  test.each<readonly [string, Behaviour, string]>([
    ["idleMs", streams([role, hello], { ending: "hang" }), "the provider sent nothing more within 1500 ms"],
    ["totalMs", repeats(event(hello)), "the provider did not finish within 1500 ms"],
  ])("%s", async (timeout, behaviour, reason) => {
    await inLab({ [timeout]: SHORT_MS }, async ({ provider, ask, gateway }) => {
      provider.once("alpha", behaviour);
      const response = await ask({ stream: true });
      const { error, isDone, text } = await readStream(response);
      const requestId = response.headers.get("x-request-id");
      expect(gateway.logged).toContainEqual({
        level: "warn",
        fields: { event: "stream.broken", requestId, model: "alpha", provider: "lab", reason },
        message: "provider interrupted the stream",
      });
      expect(text).toMatch(/^Hello/);
      expect(isDone).toBe(false);
      expect(error?.code).toBe("stream_interrupted");
      expect(provider.callsTo("beta")).toBe(0);
    });
  });
});

describe.concurrent("what does not time out", () => {
  test("a stream that is never silent for long, past firstByteMs and idleMs", async () => {
    await inLab({ firstByteMs: SHORT_MS, idleMs: SHORT_MS }, async ({ provider, ask }) => {
      // A try in which this process itself was silent for as long proves nothing, so there is another.
      for (let triesLeft = 5; ; triesLeft -= 1) {
        const silence = startSilence();
        const before = async (): Promise<void> => {
          await sleep(SHORT_MS / 15);
          silence.end();
        };
        provider.once("alpha", streams([...Array<object>(20).fill(hello), chunk("alpha", {}, "stop")], { before }));
        const { text, isDone } = await readStream(await ask({ stream: true }));
        silence.end();
        if (silence.longestMs() >= SHORT_MS && triesLeft > 0) continue;
        expect({ text, isDone }).toEqual({ text: "Hello".repeat(20), isDone: true });
        return;
      }
    });
  });

  test("a whole answer that takes longer than idleMs to begin", async () => {
    await inLab({ idleMs: SHORT_MS }, async ({ provider, ask }) => {
      const late = { choices: [{ index: 0, message: { role: "assistant", content: "late" }, finish_reason: "stop" }] };
      provider.on("alpha", delays(2 * SHORT_MS, sends(200, late)));
      expect(await (await ask()).json()).toMatchObject({ model: "alpha" });
    });
  });
});

/** The longest time between two calls of `end`, from now on. */
function startSilence(): { end(): void; longestMs(): number } {
  let sinceMs = performance.now();
  let longestMs = 0;
  return {
    end() {
      longestMs = Math.max(longestMs, performance.now() - sinceMs);
      sinceMs = performance.now();
    },
    longestMs: () => longestMs,
  };
}
