// The fault matrix, second part: streams that break, clients that leave. Judged from three sides: what the client saw,
// what the provider saw, what was booked. Numbers are those of docs/contribute/testing.md.

import { describe, expect, test } from "vitest";
import {
  type Behaviour,
  chunk,
  event,
  fails,
  hangs,
  type StreamScript,
  streams,
  USAGE,
} from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { decimal, PRICES } from "../../support/stores/money.ts";
import { parseStream } from "../lab.ts";
import { COST, type ExchangeOptions, NEVER_OPEN, shareWorlds, type World } from "../world.ts";

const role = chunk("alpha", { role: "assistant", content: "" });
const hello = chunk("alpha", { content: "Hello" });
const finish = chunk("alpha", {}, "stop");
const usage = { ...chunk("alpha", {}), choices: [], usage: USAGE };

const inSharedWorld = shareWorlds(1, { health: NEVER_OPEN });
/** Nothing comes any more, or nothing but pings. What has begun is given up; B still answers. */
const inSilentWorld = shareWorlds(2, { health: NEVER_OPEN, timeouts: { idleMs: 2_000 } });
const inEndlessWorld = shareWorlds(2, { health: NEVER_OPEN, timeouts: { totalMs: 2_000 } });

/** When the work is done, the gateway is well and serves as before. */
async function inWorld(work: (world: World) => Promise<void>, inShared = inSharedWorld): Promise<void> {
  await inShared(async (world) => {
    await work(world);
    expect((await world.gateway.get("/healthz")).status).toBe(200);
    await world.heal();
    expect((await world.exchange({ stream: true })).text).toContain("[DONE]");
    await world.bank.atRest();
  });
}

/** Content, then what the row says once the client has read the content. */
function breaksAfterHello(world: World, rest: readonly (object | string)[], ending: Break["ending"]): Behaviour {
  const seen = world.untilSeen("Hello");
  return streams([role, hello, ...rest, ""], { ending, before: (index) => (index === 2 ? seen : undefined) });
}

interface Break {
  readonly name: string;
  readonly rest?: readonly (object | string)[];
  readonly ending: NonNullable<StreamScript["ending"]>;
  /** Only a timeout ends it. */
  readonly isSilent?: boolean;
  /** Trouble on the line, once the client has read the content. */
  readonly line?: (world: World) => Promise<void> | void;
}

const BREAKS: readonly Break[] = [
  { name: "RST on the line", line: ({ toA }) => toA.cut("reset"), ending: "hang" },
  { name: "the line closed", line: ({ toA }) => toA.cut("close"), ending: "hang" },
  { name: "silence on the line", line: ({ toA }) => toA.goAway("swallow"), ending: "hang", isSilent: true },
  { name: "the line closed in the middle of an event", rest: ['data: {"choices":[{"ind'], ending: "cut" },
  { name: "FIN without a finish", ending: "end" },
  { name: "[DONE] without a finish", ending: "done" },
  { name: "an error event", rest: [event({ error: { message: "inner", type: "server_error" } })], ending: "end" },
  { name: "malformed JSON", rest: ["data: {oops\n\n"], ending: "end" },
  { name: "silence beyond idleMs", ending: "hang", isSilent: true },
];

describe.concurrent("case 67: broken off after the first content", () => {
  test.for(BREAKS)("$name", async ({ rest = [], ending, line, isSilent }) => {
    await inWorld(
      async (world) => {
        world.a.on("alpha", breaksAfterHello(world, rest, ending));
        if (line !== undefined) void world.untilSeen("Hello").then(() => line(world));
        const received = world.a.nextRequest();
        const spent = await world.bank.spentBy(async () => {
          const seen = await world.exchange({ stream: true });
          const { text, isDone, error, events } = parseStream(seen.text);
          expect({ status: seen.status, isWhole: seen.isWhole, text, isDone }).toEqual({
            status: 200,
            isWhole: true,
            text: "Hello",
            isDone: false,
          });
          expect(error).toMatchObject({ type: "provider_error", code: "stream_interrupted" });
          expect(events.at(-1)?.error, "the error is the last event").toBe(error);
        });
        expect(spent, "the provider broke it: nothing").toBe(0n);
        await (await received).closed;
        expect({ a: world.a.requests.length, b: world.b.requests.length }).toEqual({ a: 1, b: 0 });
      },
      isSilent ? inSilentWorld : inSharedWorld,
    );
  });
});

describe.concurrent("case 68: the client closes after k chunks", () => {
  const WORD = "word ";
  const words = Array.from({ length: 40 }, () => chunk("alpha", { content: WORD }));

  test.for([1, 10, 40])("k = %i", async (count) => {
    await inWorld(async (world) => {
      world.a.on("alpha", streams([role, ...words.slice(0, count)], { ending: "hang" }));
      const received = world.a.nextRequest();
      let leftAtMs = 0;
      const leaveWhen: ExchangeOptions["leaveWhen"] = (text) => {
        leftAtMs = performance.now();
        return text.split(WORD).length - 1 === count;
      };
      const spent = await world.bank.spentBy(async () => {
        const seen = await world.exchange({ stream: true, max_tokens: 500 }, { leaveWhen });
        expect(seen.isWhole).toBe(false);
        expect(await (await received).closed).toEqual({ wasCut: true });
        expect(performance.now() - leftAtMs).toBeLessThan(promisedMs(1_000));
      });
      // Five letters are a token and a bit; the input is a short question.
      const outputOnly = BigInt(count) * decimal(PRICES.alpha.output, 3);
      expect(spent).toBeGreaterThanOrEqual(outputOnly);
      expect(spent).toBeLessThan(3n * outputOnly + 100n * decimal(PRICES.alpha.input, 3));
      expect({ a: world.a.requests.length, b: world.b.requests.length }).toEqual({ a: 1, b: 0 });
    });
  });

  test("all but the usage: what was delivered is charged", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", streams([role, hello, finish], { ending: "hang" }));
      const leaveWhen = (text: string): boolean => text.includes("Hello");
      const spent = await world.bank.spentBy(() => world.exchange({ stream: true }, { leaveWhen }));
      expect(spent).toBeGreaterThan(0n);
    });
  });
});

describe.concurrent("case 69: the client closes before anything came", () => {
  test.for([
    ["while headers are awaited", hangs, false],
    ["while the headers of a stream are awaited", hangs, true],
    ["in the wait before a retry", fails(429, {}, { "retry-after": "2" }), false],
  ] as const)("%s", async ([_name, behaviour, stream]) => {
    await inWorld(async (world) => {
      world.a.on("*", behaviour);
      const received = world.a.nextRequest();
      const leaveAt = received.then(() => world.gateway.get("/healthz"));
      const spent = await world.bank.spentBy(async () => {
        const direct = { stream, model: "alpha", service_profile: "direct" };
        expect(await world.exchange(direct, { leaveAt })).toMatchObject({ status: null, text: "" });
        await (await received).closed;
      });
      expect(spent).toBe(0n);
      expect({ a: world.a.requests.length, b: world.b.requests.length }).toEqual({ a: 1, b: 0 });
    });
  });
});

/** Pings for as long as somebody listens. */
function pings(first: string): Behaviour {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
    const timer = setInterval(() => response.write(": ping\n\n"), 30);
    response.once("close", () => clearInterval(timer));
  };
}

describe.concurrent("case 72: pings only, for longer than the total", () => {
  test("before content: the next provider answers", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", pings(""));
      const spent = await world.bank.spentBy(async () => {
        const { text, isDone, events } = parseStream((await world.exchange({ stream: true })).text);
        expect({ text, isDone, model: events[0]?.model }).toEqual({ text: "ok", isDone: true, model: "beta" });
      });
      expect(spent).toBe(COST.beta);
      expect(await world.a.requests[0]?.closed).toEqual({ wasCut: true });
    }, inEndlessWorld);
  });

  test("after content: broken off at the total, and free", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", pings(event(hello)));
      const spent = await world.bank.spentBy(async () => {
        const { text, isDone, error } = parseStream((await world.exchange({ stream: true })).text);
        expect({ text, isDone, code: error?.code }).toEqual({
          text: "Hello",
          isDone: false,
          code: "stream_interrupted",
        });
      });
      expect(spent).toBe(0n);
      expect(await world.a.requests[0]?.closed).toEqual({ wasCut: true });
    }, inEndlessWorld);
  });
});

describe.concurrent("case 73: usage is always asked for, and shown to who asked", () => {
  test.for([true, false])("include_usage: %s", async (wanted) => {
    await inWorld(async (world) => {
      world.a.on("alpha", streams([role, hello, finish, usage]));
      const options = wanted ? { stream_options: { include_usage: true } } : {};
      const spent = await world.bank.spentBy(async () => {
        const { events, isDone } = parseStream((await world.exchange({ stream: true, ...options })).text);
        const shown = events.filter((one) => (one.usage ?? null) !== null);
        expect({ isDone, shown: shown.map((one) => one.usage) }).toEqual({
          isDone: true,
          shown: wanted ? [USAGE] : [],
        });
      });
      expect(spent, "the charge is the provider's usage either way").toBe(COST.alpha);
      expect(world.a.requests[0]?.body.stream_options).toEqual({ include_usage: true });
    });
  });
});

describe.concurrent("case 74: tool calls and no text", () => {
  const call = (delta: object): object => chunk("alpha", { tool_calls: [{ index: 0, ...delta }] });
  const CALLS = [
    role,
    call({ id: "call_1", type: "function", function: { name: "look", arguments: "" } }),
    call({ function: { arguments: '{"at":' } }),
    call({ function: { arguments: '"Paris"}' } }),
    chunk("alpha", {}, "tool_calls"),
    usage,
  ];
  const parameters = { type: "object", properties: { at: { type: "string" } } };

  test("are an answer, and charged", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", streams(CALLS));
      const tools = [{ type: "function", function: { name: "look", parameters } }];
      const spent = await world.bank.spentBy(async () => {
        const { events, isDone } = parseStream((await world.exchange({ stream: true, tools })).text);
        const deltas = events.flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? []);
        expect({ isDone, count: deltas.length }).toEqual({ isDone: true, count: 3 });
      });
      expect({ spent, b: world.b.requests.length }).toEqual({ spent: COST.alpha, b: 0 });
    });
  });

  test("in the Messages format the events are in order and the usage is right", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", streams(CALLS));
      const body = { stream: true, max_tokens: 100, tools: [{ name: "look", input_schema: parameters }] };
      const spent = await world.bank.spentBy(async () => {
        const { text } = await world.exchange(body, { path: "/v1/messages" });
        const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name).filter((name) => name !== "ping");
        expect(names.join(" ")).toMatch(
          /^message_start content_block_start( content_block_delta)+ content_block_stop message_delta message_stop$/,
        );
        const last = JSON.parse(/event: message_delta\ndata: (.*)/.exec(text)?.[1] ?? "{}");
        expect(last).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } });
      });
      expect(spent).toBe(COST.alpha);
    });
  });
});
