// Each timeout of a provider is its own setting and has its own words in the log.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type Behaviour, chunk, delays, event, hangs, sends, streams } from "../../support/providers/fake-provider.ts";
import { keyFor, type Lab, openLab, readStream } from "../lab.ts";

/** Enough for a busy machine to hear a provider that does answer. */
const SHORT_MS = 1_500;
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

interface Late {
  readonly timeout: "firstByteMs" | "idleMs" | "totalMs";
  readonly name: string;
  readonly stream: boolean;
  readonly behaviour: Behaviour;
}

const REASONS = {
  firstByteMs: `the provider sent no answer within ${SHORT_MS} ms`,
  idleMs: `the provider sent nothing more within ${SHORT_MS} ms`,
  totalMs: `the provider did not finish within ${SHORT_MS} ms`,
};
const BEFORE: readonly Late[] = [
  { timeout: "firstByteMs", name: "no headers", stream: false, behaviour: hangs },
  { timeout: "firstByteMs", name: "no headers of a stream", stream: true, behaviour: hangs },
  { timeout: "firstByteMs", name: "headers, no event", stream: true, behaviour: streams([], { ending: "hang" }) },
  { timeout: "firstByteMs", name: "comments only", stream: true, behaviour: repeats(": ping\n\n") },
  { timeout: "idleMs", name: "half a body", stream: false, behaviour: halfBody },
  { timeout: "idleMs", name: "a role, then silence", stream: true, behaviour: streams([role], { ending: "hang" }) },
  { timeout: "totalMs", name: "no headers", stream: false, behaviour: hangs },
  { timeout: "totalMs", name: "white space for ever", stream: false, behaviour: repeats(" ") },
  { timeout: "totalMs", name: "comments only", stream: true, behaviour: repeats(": ping\n\n") },
];
const WITHIN: readonly Late[] = [
  { timeout: "idleMs", name: "silence", stream: true, behaviour: streams([role, hello], { ending: "hang" }) },
  { timeout: "totalMs", name: "without end", stream: true, behaviour: repeats(event(hello)) },
];

/** Each case has a model of its own, so that all are waited for at the same time. */
const modelOf = (late: Late): string => `late-${[...BEFORE, ...WITHIN].indexOf(late)}`;
const PATIENT = { steady: { firstByteMs: SHORT_MS, idleMs: SHORT_MS }, slow: { idleMs: SHORT_MS } };
const timeoutsOf = {
  ...Object.fromEntries([...BEFORE, ...WITHIN].map((late) => [modelOf(late), { [late.timeout]: SHORT_MS }])),
  ...PATIENT,
};

let lab: Lab;
beforeAll(async () => {
  const models = [...Object.keys(timeoutsOf), "beta"];
  lab = await openLab({ models: Object.fromEntries(models.map((id) => [id, 128_000])), timeoutsOf });
});
afterAll(() => lab.close());

async function ask(model: string, body: object = {}): Promise<Response> {
  const authorization = `Bearer ${await keyFor(lab.gateway, [model, "beta"])}`;
  return lab.gateway.post("/v1/chat/completions", { ...HELLO, ...body }, { authorization });
}

const requestsTo = (model: string) => lab.provider.requests.filter(({ body }) => body.model === model);

describe.concurrent("before an answer the next model is tried", () => {
  test.each(BEFORE)("$timeout: $name (stream: $stream)", async (late) => {
    const model = modelOf(late);
    lab.provider.on(model, late.behaviour);
    const response = await ask(model, { stream: late.stream });
    expect(response.status).toBe(200);
    await response.text();
    expect(await requestsTo(model)[0]?.closed).toEqual({ wasCut: true });
    const { attempts } = await lab.line(response.headers.get("x-request-id")!);
    expect(attempts.map((attempt) => [attempt.model, attempt.reason])).toEqual([
      [model, REASONS[late.timeout]],
      ["beta", null],
    ]);
  });
});

describe.concurrent("within an answer the stream is broken off", () => {
  test.each(WITHIN)("$timeout: $name", async (late) => {
    const model = modelOf(late);
    lab.provider.on(model, late.behaviour);
    const response = await ask(model, { stream: true });
    const { error, isDone, text, events } = await readStream(response);
    const requestId = response.headers.get("x-request-id");
    expect(lab.gateway.logged).toContainEqual({
      level: "warn",
      fields: {
        ...{ event: "stream.broken", requestId, model, provider: `lab-${model}` },
        reason: REASONS[late.timeout],
      },
      message: "provider interrupted the stream",
    });
    expect(text).toMatch(/^Hello/);
    expect(isDone).toBe(false);
    expect(error?.code).toBe("stream_interrupted");
    expect(events[0]?.model, "no other model was asked").toBe(model);
    expect((await lab.line(requestId!)).attempts).toHaveLength(1);
  });
});

describe.concurrent("what does not time out", () => {
  test("a stream that is never silent for long, past firstByteMs and idleMs", async () => {
    // A try in which this process itself was silent for as long proves nothing, so there is another.
    for (let triesLeft = 5; ; triesLeft -= 1) {
      const silence = startSilence();
      const before = async (): Promise<void> => {
        await sleep(SHORT_MS / 15);
        silence.end();
      };
      lab.provider.once("steady", streams([...Array<object>(20).fill(hello), chunk("alpha", {}, "stop")], { before }));
      const { text, isDone } = await readStream(await ask("steady", { stream: true }));
      silence.end();
      if (silence.longestMs() >= SHORT_MS && triesLeft > 0) continue;
      expect({ text, isDone }).toEqual({ text: "Hello".repeat(20), isDone: true });
      return;
    }
  });

  test("a whole answer that takes longer than idleMs to begin", async () => {
    const late = { choices: [{ index: 0, message: { role: "assistant", content: "late" }, finish_reason: "stop" }] };
    lab.provider.on("slow", delays(2 * SHORT_MS, sends(200, late)));
    expect(await (await ask("slow")).json()).toMatchObject({ model: "slow" });
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
