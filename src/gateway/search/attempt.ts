// Attempts of a call whose model may search: while it asks for nothing but searches, the gateway runs them and asks again.
// A round that calls a tool of the client, or none, is the answer. Used in place of `attempt`.

import { type HostedModel, runsSearches } from "../../core/model.ts";
import type { SearchStep } from "../../core/search/web-search.ts";
import type { WholeResponse } from "../../formats/format.ts";
import { outputTokensOf } from "../../formats/provider/output-meter.ts";
import { composed, saidIn } from "../../formats/tools/search-rounds.ts";
import type { SearchedRound } from "../../formats/tools/searches.ts";
import { type Answered, type Attempted, attempt, type Unanswered } from "../attempt/attempt.ts";
import type { Call } from "../call.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import { SearchRounds } from "./rounds.ts";
import { searchingStream } from "./stream.ts";

export async function attemptSearching(call: Call, reservation: Reservation, services: Services): Promise<Attempted> {
  const first = await attempt(call, reservation, services);
  const { result } = first;
  if (call.request.searching === undefined || !result.ok || searchesItself(call, result, services)) return first;
  const rounds = new SearchRounds({ call, reservation, answered: result }, services);
  const { response } = result;
  if (response.stream === null) return searchWhole(first, result, rounds);
  return {
    ...first,
    result: { ...result, response: { ...response, stream: searchingStream(response.stream, rounds, services) } },
  };
}

/** Hosts of the client's own format got its request as it came. */
function searchesItself({ format }: Call, { model }: Answered, { registry }: Services): boolean {
  const spoken = registry.connection(model.provider).formatFor(model, format.name).name;
  return spoken === format.name && runsSearches(model, format.name);
}

/** A client that leaves pays for the rounds that were complete as well. */
function withEarlier(left: Unanswered, model: HostedModel, rounds: SearchRounds): Unanswered {
  if (left.event !== "disconnected") return left;
  const accepted = { model, usage: rounds.usage(left.accepted), outputTokens: 0, isCounted: true };
  return { ...left, accepted };
}

async function lastOf(begun: SearchStep, rounds: SearchRounds): Promise<SearchStep> {
  let last = begun;
  for await (const step of rounds.run(begun)) last = step;
  return last;
}

async function searchWhole(first: Attempted, answered: Answered, rounds: SearchRounds): Promise<Attempted> {
  const attempts = [...first.attempts];
  const searched: SearchedRound[] = [];
  let outputText = "";
  for (let result = answered; ; ) {
    const whole = result.response.whole as WholeResponse;
    const { message, calls, hasOthers } = saidIn(whole, rounds.toolNames);
    outputText += whole.outputText;
    const round = { usage: whole.usage, outputTokens: outputTokensOf(whole.outputText), isCounted: true };
    if (calls.length === 0 || hasOthers || rounds.isOver) {
      const isUnsearched = searched.length === 0 && calls.length === 0;
      const response = isUnsearched
        ? whole
        : composed(whole, { message, searched, outputText, usage: rounds.usageWith(round) });
      return {
        attempts,
        result: { ...result, response: { ...result.response, whole: response } as Answered["response"] },
      };
    }
    const steps = [];
    for (const step of rounds.begin(calls)) steps.push(await lastOf(step, rounds));
    searched.push({ message, steps });
    const next = await rounds.next({ ...round, message, calls, steps });
    attempts.push(...next.attempts);
    if (!next.result.ok) return { attempts, result: withEarlier(next.result, result.model, rounds) };
    result = next.result;
  }
}
