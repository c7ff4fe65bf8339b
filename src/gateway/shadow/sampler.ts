// Shadow samples: a share of a profile's requests is answered by a second model too, after the client has its answer. Few
// run at once and few wait. What does not fit is dropped and counted, so that live requests never wait for a sample.

import type { ShadowRule } from "../../core/accounts.ts";
import type { CapturedResponse } from "../../core/call-report.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { costNano } from "../../core/money.ts";
import type { AnswerFigures, OutcomeStore } from "../../core/requests/outcomes.ts";
import type { CostRecord, RequestRecord } from "../../core/requests/records.ts";
import type { Caller } from "../call.ts";
import { responseText } from "../capture.ts";
import { constraintsOf, withServiceTier } from "../constraints.ts";
import type { Services } from "../services.ts";
import { compareAnswers } from "./agreement.ts";
import { type AskedAgain, askAgain, plan } from "./second-answer.ts";

/** A request that was answered, with what was said. */
export interface AnsweredRequest extends Pick<AskedAgain, "format" | "request"> {
  readonly rule: ShadowRule;
  readonly caller: Caller;
  readonly record: RequestRecord;
  readonly said: CapturedResponse;
}

export interface Sampler {
  /** The rule of the caller's profile, for the requests that are drawn; null for the others. */
  draw(caller: Caller): ShadowRule | null;
  /** Takes a moment. What there is no room for is dropped. */
  offer(answered: AnsweredRequest): void;
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>;
  /** Drops what waits and ends what runs. */
  close(): Promise<void>;
}

type SampleResult = "compared" | "over_budget" | "unsuitable" | "failed" | "dropped";

export interface SamplerContext {
  readonly store: OutcomeStore;
  readonly services: () => Services;
  /** True while the process is overloaded or about to stop. */
  readonly isBusy: () => boolean;
  readonly onResult: (result: SampleResult) => void;
  readonly random?: () => number;
}

const RUNNING_MAX = 2;
const WAITING_MAX = 16;
/** Bodies that wait, all together. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

export function createSampler(context: SamplerContext): Sampler {
  return new QueuedSampler(context);
}

class QueuedSampler implements Sampler {
  readonly #context: SamplerContext;
  readonly #random: () => number;
  readonly #running = new Set<Cancellation>();
  #waiting: AnsweredRequest[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  constructor(context: SamplerContext) {
    this.#context = context;
    this.#random = context.random ?? Math.random;
  }

  draw({ profile }: Caller): ShadowRule | null {
    const rule = profile?.shadow ?? null;
    return rule === null || this.#random() >= rule.share ? null : rule;
  }

  offer(answered: AnsweredRequest): void {
    const refusal = this.#refusalOf(answered);
    if (refusal !== null) {
      this.#context.onResult(refusal);
      return;
    }
    this.#waiting.push(answered);
    this.#waitingBytes += answered.request.source.bytes.length;
    this.#next();
  }

  #refusalOf(answered: AnsweredRequest): SampleResult | null {
    if (!isComparable(answered)) return "unsuitable";
    const bytes = this.#waitingBytes + answered.request.source.bytes.length;
    const hasRoom = this.#waiting.length < WAITING_MAX && bytes <= WAITING_BYTES_MAX;
    return hasRoom && !this.#isRefusing() ? null : "dropped";
  }

  idle(): Promise<void> {
    if (this.#running.size === 0 && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const _ of this.#waiting) this.#context.onResult("dropped");
    this.#waiting = [];
    for (const call of this.#running) call.abort();
    return this.idle();
  }

  #isRefusing(): boolean {
    return this.#isClosed || this.#context.isBusy();
  }

  #next(): void {
    while (this.#running.size < RUNNING_MAX) {
      const answered = this.#waiting.shift();
      if (answered === undefined) break;
      this.#waitingBytes -= answered.request.source.bytes.length;
      if (this.#isRefusing()) this.#context.onResult("dropped");
      else void this.#run(answered);
    }
    if (this.#running.size > 0 || this.#waiting.length > 0) return;
    for (const tell of this.#onIdle) tell();
    this.#onIdle = [];
  }

  async #run(answered: AnsweredRequest): Promise<void> {
    const { onResult, services } = this.#context;
    const call = new Cancellation();
    this.#running.add(call);
    try {
      onResult(await sample(answered, call, this.#context));
    } catch (error) {
      // The database is away, or a fault of ours: the client has its answer either way.
      onResult("failed");
      const { requestId } = answered.record;
      services().log.warn({ event: "shadow.failed", requestId, err: error }, "shadow sample failed");
    } finally {
      this.#running.delete(call);
      this.#next();
    }
  }
}

/** Whole answers to routed requests, with one choice, from another model than the one that is asked. */
function isComparable({ rule, request, record, said }: AnsweredRequest): boolean {
  const { status, ending, decision, cost, answeredBy } = record;
  const isWhole = status === 200 && ending === "complete" && !said.isCut && !said.isCutShort;
  const isRouted = decision !== null && cost !== null && answeredBy !== null && answeredBy.model !== rule.model;
  return isWhole && isRouted && request.chat.choiceCount === 1;
}

async function sample(
  answered: AnsweredRequest,
  signal: Cancellation,
  { store, services: current }: SamplerContext,
): Promise<SampleResult> {
  const { rule, caller, record } = answered;
  const services = current();
  const asked = askedAgain(answered, services);
  const planned = plan(asked, rule.model, services);
  if (planned === null) return "unsuitable";
  const day = { profileId: caller.profile?.id ?? "", day: new Date(services.now()).toISOString().slice(0, 10) };
  if (!(await store.take(day, planned.costMax, rule.budgetPerDay))) return "over_budget";
  const second = await askAgain(asked, planned, { signal, services });
  if (second.state === "refused") await store.settle(day, planned.costMax, 0n);
  if (second.state !== "answered") return "failed";
  await store.settle(day, planned.costMax, second.figures.cost);
  if (second.said.isCut || second.said.isCutShort) return "unsuitable";
  const compared = compareAnswers(toSaid(answered.said), toSaid(second.said));
  await store.add({
    ...{ id: record.id, accountId: record.accountId, profileId: day.profileId, atMs: record.atMs },
    tier: asked.decision.tier,
    category: asked.decision.category,
    live: liveFigures(record),
    second: second.figures,
    ...compared,
    answer: record.content === null ? null : responseText(second.said),
  });
  return "compared";
}

function askedAgain({ format, request, caller, record }: AnsweredRequest, { catalog }: Services): AskedAgain {
  if (caller.profile === null || record.decision === null) throw new Error("a sample needs a profile and a decision");
  const liveOutputTokens = record.cost?.buckets.output ?? 0;
  const { decision, requestId } = record;
  const constraints = constraintsOf(caller, catalog);
  const tiered = withServiceTier(request, constraints, catalog);
  return { format, request: tiered, constraints, decision, requestId, liveOutputTokens };
}

function toSaid(said: CapturedResponse) {
  return { text: said.text, toolCalls: said.toolCalls() };
}

/** From the call that answered on, and at the provider's price, so that both sides compare. */
function liveFigures({ answeredBy, cost, latencyMs, attempts }: RequestRecord): AnswerFigures {
  const { buckets, price } = cost as CostRecord;
  return {
    model: answeredBy?.model ?? "",
    outputTokens: buckets.output,
    latencyMs: latencyMs - (attempts.at(-1)?.startMs ?? 0),
    cost: costNano(buckets, price, 0),
  };
}
