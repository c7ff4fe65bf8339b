// Mock providers for a soak: mostly they answer, sometimes they fail in every way a provider can. Both wire formats are
// behind one address.

import { failsNatively, says as saysNatively } from "../../test/support/providers/fake-anthropic.ts";
import {
  type Behaviour,
  chunk,
  completion,
  cuts,
  cutsBody,
  type Exchange,
  type FakeProvider,
  fails,
  hangs,
  sends,
  sendsRaw,
  startFakeProvider,
  streams,
  textChunks,
} from "../../test/support/providers/fake-provider.ts";
import type { Random } from "../../test/support/random.ts";

const WORDS = "some words come one after another and then there are no more";

/** One in `faultEvery` answers is a fault; 0 for none. */
export async function startSoakProvider(random: Random, faultEvery: number): Promise<FakeProvider> {
  const provider = await startFakeProvider((exchange) => {
    // The list is for tests that look at it; here it would only grow.
    provider.requests.length = 0;
    const isFault = faultEvery > 0 && random.below(faultEvery) === 0;
    return (isFault ? random.pick(faultsOf(exchange)) : answer(random))(exchange);
  });
  return provider;
}

/** Tells if the request is in the Messages format. */
function isNative({ request }: Exchange): boolean {
  return request.path.endsWith("/messages");
}

/** Faults that fit the request: a stream can also break in the middle. */
function faultsOf(exchange: Exchange): readonly Behaviour[] {
  const { model } = exchange.request.body;
  const status = isNative(exchange) ? failsNatively : fails;
  const begun = textChunks(WORDS, model).slice(0, 4);
  const onTheWire: readonly Behaviour[] = [
    status(500),
    status(503),
    status(529),
    status(429),
    cuts,
    cutsBody,
    hangs,
    sends(200, "<html>"),
    sends(200, ""),
    sendsRaw("HTTP/1.1 oops\r\n\r\n"),
  ];
  if (isNative(exchange) || exchange.request.body.stream !== true) return onTheWire;
  return [
    ...onTheWire,
    streams(begun, { ending: "cut" }),
    streams(begun, { ending: "end" }),
    streams(begun, { ending: "hang" }),
    streams([...begun, "data: {oops\n\n"], { ending: "end" }),
    streams([chunk(model, { role: "assistant" })], { ending: "hang" }),
  ];
}

/** Random usage, so that every charge is different. */
function answer(random: Random): Behaviour {
  const prompt = 5 + random.below(4000);
  const output = 1 + random.below(900);
  const paceMs = random.pick([0, 0, 2, 10]);
  const before = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, paceMs));
  return (exchange) => {
    const { model, stream, tools } = exchange.request.body;
    const text = Array.isArray(tools) ? `${WORDS} with tools` : WORDS;
    if (isNative(exchange)) {
      return saysNatively(text, { usage: { input_tokens: prompt, output_tokens: output }, before })(exchange);
    }
    const usage = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
    if (stream === true) return streams(textChunks(text, model), { usage, before })(exchange);
    return sends(200, completion(text, model, { usage }))(exchange);
  };
}
