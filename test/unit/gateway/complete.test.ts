// A call through the gateway with every service in the test's hands: what the report says where two things happen at once.

import { expect, test, vi } from "vitest";
import type { CallReport } from "../../../src/core/call-report.ts";
import { Cancellation } from "../../../src/core/cancellation.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../src/formats/sse/reader.ts";
import type { Call } from "../../../src/gateway/call.ts";
import { complete } from "../../../src/gateway/complete.ts";
import type { Services } from "../../../src/gateway/services.ts";
import type { Reply, ReplyBody } from "../../../src/providers/transport.ts";
import { makeCatalog, makeModel } from "../../support/catalog.ts";
import { chunk, event } from "../../support/providers/fake-provider.ts";

const HELLO = event(chunk("first", { content: "Hello" }));

/** A body that has said these things and then waits. */
function openBody(texts: readonly string[]): ReplyBody {
  const pieces = texts.map((text) => Buffer.from(text));
  const read = (): Promise<null> => new Promise(() => undefined);
  return {
    tryRead: () => pieces.shift(),
    read,
    failure: null,
    eventSeen: vi.fn(),
    lingers: vi.fn(),
    cancel: vi.fn(),
    release: vi.fn(),
  };
}

function begin(send: () => Promise<Reply>) {
  const state = { isCutting: false };
  const reports: CallReport[] = [];
  const observer = {
    ended: (report: CallReport) => void reports.push(report),
    afterwards: (work: () => void) => work(),
  };
  for (const name of ["routing", "routed", "reserved", "answered", "ready", "begun", "streamEnded"]) {
    Object.assign(observer, { [name]: () => undefined });
  }
  const models = ["first", "second"].map((id) => makeModel({ id }));
  const catalog = makeCatalog({
    chains: { NANO: models, SIMPLE: models, LIGHT: models, STANDARD: models, COMPLEX: models },
  });
  const ledger = {
    hold: async ({ amounts }: { amounts: readonly bigint[] }) => ({ state: "held", amount: amounts[0] }),
    settle: vi.fn(async () => ({ state: "settled", absorbed: 0n })),
    release: vi.fn(async () => undefined),
  };
  const connection = {
    provider: { auth: { scheme: "bearer" } },
    transport: { send },
    formatFor: () => openaiChat,
    newEvents: createSseReader,
    redact: String,
  };
  const services = {
    catalog,
    ledger,
    billingModeOf: () => "prepaid",
    budgets: { of: () => [] },
    rates: { request: async () => 0, tokensWait: async () => 0, note: () => undefined },
    registry: { connection: () => connection },
    health: { admit: () => 1, report: vi.fn(), resting: () => new Map(), mayRetry: () => false },
    usageProblem: vi.fn(),
    speeds: { current: () => new Map(), note: vi.fn() },
    sessions: { view: () => null, loopModel: () => null, note: vi.fn(), cacheHelp: () => null },
    toolCallsSeen: () => new Map(),
    log: { info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    routing: { answerWithinMs: 10_000, isRoutingDebugged: false },
    isCutting: () => state.isCutting,
    now: () => 1_000,
  } as unknown as Services;
  const body = { model: "auto", stream: true, messages: [{ role: "user", content: "Hi" }], service_profile: "auto" };
  const { source } = parseBody(Buffer.from(JSON.stringify(body)));
  const call = {
    requestId: "req_1",
    format: openaiChat,
    request: openaiChat.readRequest(source, body),
    caller: {
      key: { id: "key", accountId: "default", spendLimitNano: null, spendReset: "never", requires: null },
      profile: null,
      teams: [],
    },
    signal: new Cancellation(),
    captures: { text: false, metadata: false },
    traceContext: null,
    observer,
    idempotencyId: null,
    state: null,
  } as unknown as Call;
  return { state, reports, ledger, done: complete(call, services) };
}

const answered = (body: ReplyBody): Reply => ({ ok: true, status: 200, headers: {}, body });

test("a client that is charged for disconnecting is reported as such, though the process began to cut meanwhile", async () => {
  const { state, reports, ledger, done } = begin(async () => answered(openBody([HELLO])));
  ledger.settle.mockImplementation(async () => {
    state.isCutting = true;
    return { state: "settled", absorbed: 0n };
  });
  const response = await done;
  if (response.kind !== "stream") throw new Error("a stream was asked for");
  await response.relay({ isOpen: false, write: () => null, end: () => undefined });
  expect(ledger.settle).toHaveBeenCalledTimes(1);
  expect(ledger.release).not.toHaveBeenCalled();
  expect(reports.map(({ ending, cost }) => [ending, cost === null])).toEqual([["client-gone", false]]);
});

test("a fault of ours at the second model leaves the first attempt in the report", async () => {
  const fault = new Error("a fault of ours");
  let calls = 0;
  const { reports, ledger, done } = begin(async () => {
    calls += 1;
    if (calls === 1) return { ok: false, failure: { kind: "connect", message: "refused" } };
    throw fault;
  });
  await expect(done).rejects.toBe(fault);
  expect(ledger.release).toHaveBeenCalledTimes(1);
  expect(reports.map(({ attempts }) => attempts.map(({ model, outcome }) => [model, outcome]))).toEqual([
    [["first", "failed"]],
  ]);
});

test("the first text of a stream goes out in the turn of the event loop in which it came", async () => {
  let arrive = (_: Buffer): void => undefined;
  const body = {
    ...openBody([]),
    tryRead: () => undefined,
    read: () => new Promise<Buffer>((resolve) => (arrive = resolve)),
  };
  const { done } = begin(async () => answered(body));
  let isNextTurn = false;
  const late: boolean[] = [];
  const write = (): null => {
    late.push(isNextTurn);
    return null;
  };
  const sink = { isOpen: true, write, end: () => undefined };
  void done.then((response) => (response.kind === "stream" ? response.relay(sink) : undefined));
  await new Promise(setImmediate);
  setImmediate(() => {
    isNextTurn = true;
  });
  arrive(Buffer.from(HELLO));
  await expect.poll(() => late).toEqual([false]);
});
