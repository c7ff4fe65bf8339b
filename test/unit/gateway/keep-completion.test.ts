// A completion that cannot be stored is answered all the same, with a note that says so, whole and streamed.

import { expect, test } from "vitest";
import { COMPLETION_FORM } from "../../../src/formats/openai-chat/stored.ts";
import { createCompletionKeeper } from "../../../src/gateway/state/keep-completion.ts";

const BUCKETS = { input: 3, cacheRead: 0, cacheWrite: 0, output: 2 };
const USAGE = { buckets: BUCKETS, longCacheWrite: 0, reasoning: 0 } as never;

function keeper(insert: () => Promise<void>) {
  const logged: string[] = [];
  const error = ({ event }: { event: string }) => void logged.push(event);
  const services = { completions: { insert }, log: { error }, now: () => 1 } as never;
  const terms = { form: COMPLETION_FORM, accountId: "ada", requestId: "r", answerId: "a", metadata: {}, body: {} };
  return { state: createCompletionKeeper(terms, services), logged };
}

const COMPLETION = { id: "chatcmpl-a", model: "alpha", choices: [], service: { model: "alpha" } };
const CLOSING = `data: ${JSON.stringify(COMPLETION)}\n\ndata: [DONE]\n\n`;

test("a completion that is stored is answered as it is", async () => {
  const { state, logged } = keeper(() => Promise.resolve());
  const bytes = Buffer.from(JSON.stringify(COMPLETION));
  expect(await state.keepWhole(bytes)).toBe(bytes);
  expect(await state.keepClosing(CLOSING, USAGE)).toBe(CLOSING);
  expect(logged).toEqual([]);
});

test("one that cannot be stored has a note", async () => {
  const { state, logged } = keeper(() => Promise.reject(new Error("the disk is full")));
  const whole = JSON.parse((await state.keepWhole(Buffer.from(JSON.stringify(COMPLETION)))).toString("utf8"));
  expect(whole).toMatchObject({ ...COMPLETION, service: { model: "alpha", notes: [{ code: "not_stored" }] } });
  const [last, end, rest] = (await state.keepClosing(CLOSING, USAGE)).split("\n\n");
  expect(JSON.parse(last?.slice("data: ".length) ?? "")).toEqual(whole);
  expect([end, rest]).toEqual(["data: [DONE]", ""]);
  expect(logged).toEqual(["completion.store_failed", "completion.store_failed"]);
});
