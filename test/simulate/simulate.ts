// A simulation: step after step of planned calls, faults and operations against real gateway processes, judged after each
// step. It ends when its time is over, or at the first step with a problem.

import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { send } from "./client.ts";
import { judgeCall, judgeRecords, type SentCall, type SentTry } from "./judge.ts";
import { type Charge, readLog, readNewLines, readSpent, untilQuiet, walletOf } from "./ledger.ts";
import { operate, stop } from "./operations.ts";
import { type CallPlan, planStep, type StepPlan, type StoreKind } from "./plan.ts";
import { decimal } from "./price.ts";
import { type AccountName, openWorld, type World } from "./world.ts";

export interface SimulationOptions {
  /** Of the checkout whose build is simulated. */
  readonly root: string;
  readonly seed: number;
  readonly store: StoreKind;
  readonly minutes: number;
  readonly print: (line: string) => void;
}

/** What came of it. */
export interface SimulationResult {
  /** Empty when nothing is wrong. */
  readonly problems: readonly string[];
  readonly tally: Tally;
  /** Where logs and data are; kept when something is wrong. */
  readonly folder: string;
}

interface Tally {
  steps: number;
  requests: number;
  providerCalls: number;
  charges: number;
  readonly outcomes: Map<string, number>;
  readonly faults: Map<string, number>;
  readonly operations: Map<string, number>;
}

interface Run {
  readonly options: SimulationOptions;
  readonly world: World;
  readonly tally: Tally;
  /** Every call there was, by the beginning of its request ids. */
  readonly sent: Map<string, SentCall>;
  /** Nano-USD by request id. */
  readonly charges: Map<string, bigint>;
  readonly knownLines: Set<string>;
  /** What the lines of each wallet come to. */
  readonly sums: Record<AccountName, bigint>;
  readonly seenTopUps: Set<bigint>;
}

const REPORT_MS = 30_000;
/** How long a gateway may need after its faults are over, until it answers again. */
const PROBE_MS_MAX = 60_000;

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const world = await openWorld(options.root, options.store);
  const run = newRun(options, world);
  const endAtMs = performance.now() + options.minutes * 60_000;
  let reportedMs = performance.now();
  let problems: readonly string[] = [];
  try {
    for (let step = 1; problems.length === 0 && performance.now() < endAtMs; step += 1) {
      problems = await playStep(run, planStep(options.seed, step, options.store));
      if (performance.now() - reportedMs < REPORT_MS) continue;
      reportedMs = performance.now();
      options.print(`step ${step}: ${run.tally.requests} requests, ${run.tally.charges} charges`);
    }
    if (problems.length === 0) problems = await stopAll(world);
  } catch (error) {
    problems = [`step ${run.tally.steps} could not be played: ${error instanceof Error ? error.stack : error}`];
  } finally {
    await world.close();
  }
  if (problems.length === 0) rmSync(world.folder, { recursive: true, force: true });
  return { problems, tally: run.tally, folder: world.folder };
}

function newRun(options: SimulationOptions, world: World): Run {
  return {
    options,
    world,
    tally: {
      steps: 0,
      requests: 0,
      providerCalls: 0,
      charges: 0,
      outcomes: new Map(),
      faults: new Map(),
      operations: new Map(),
    },
    sent: new Map(),
    charges: new Map(),
    knownLines: new Set(),
    sums: { rich: 0n, poor: 0n },
    seenTopUps: new Set(),
  };
}

/** Everything that is wrong after the step, in words. */
async function playStep(run: Run, plan: StepPlan): Promise<readonly string[]> {
  const { world, tally } = run;
  tally.steps = plan.step;
  const problems: string[] = await setProcesses(world, plan.processes);
  const beganMs = performance.now();
  world.provider.expect(plan.calls);
  for (const { kind } of plan.operations) count(tally.operations, kind);
  const operated = Promise.all(plan.operations.map((operation) => operate(world, operation, plan.step)));
  const sent = await Promise.all(plan.calls.map((call) => play(run, call)));
  problems.push(...(await operated).flat());
  problems.push(...(await setProcesses(world, plan.processes)));
  for (const gateway of world.gateways) problems.push(...gateway.complaints);
  if (problems.length > 0) return named(plan, problems);
  const probes = await probe(run, plan);
  for (const call of [...sent, ...probes.calls]) run.sent.set(call.plan.name, call);
  problems.push(...probes.problems, ...(await untilQuiet(world)));
  const late = new Set<SentCall>();
  problems.push(...(await judgeLedger(run, late)));
  const calls = [...sent, ...probes.calls];
  // A charge may come late, for a call of an earlier step: then that call is judged again.
  problems.push(...[...new Set([...calls, ...late])].flatMap((call) => judgeOne(run, call)));
  if (problems.length === 0) problems.push(...(await judgeLog(run, plan, calls, beganMs)));
  if (world.provider.strangers.length > 0) problems.push(`the provider got ${world.provider.strangers[0]}`);
  note(run, calls);
  return named(plan, problems);
}

function named({ step, operations }: StepPlan, problems: readonly string[]): readonly string[] {
  const words = operations.map(
    ({ kind, process, atMs, durationMs }) => `${kind} (${process}, ${atMs} ms, ${durationMs} ms)`,
  );
  return problems.map((problem) => `step ${step} [${words.join(", ")}]: ${problem}`);
}

/** Starts what does not run and stops what is too many. */
async function setProcesses({ gateways }: World, wanted: number): Promise<string[]> {
  const problems: string[] = [];
  for (const gateway of gateways.slice(0, wanted)) if (!gateway.isRunning) await gateway.start();
  for (const gateway of gateways.slice(wanted)) if (gateway.isRunning) await stop(gateway, problems);
  return problems;
}

/** One call to its end, with all its tries. */
async function play({ world, tally }: Run, plan: CallPlan): Promise<SentCall> {
  await wait(plan.startMs);
  const tries: Promise<SentTry>[] = [];
  for (let turn = 0; turn < plan.tries; turn += 1) {
    tally.requests += 1;
    const sent = sendTry(world, plan, turn);
    tries.push(sent);
    if (turn > 0 || !plan.isTwin) await sent;
  }
  return { plan, tries: await Promise.all(tries) };
}

/** Each try goes to another gateway, if there is one. */
async function sendTry(world: World, plan: CallPlan, turn: number): Promise<SentTry> {
  const running = world.gateways.filter(({ isRunning }) => isRunning);
  const among = running.length > 0 ? running : world.gateways.slice(0, 1);
  const gateway = among[(plan.process + turn) % among.length] as World["gateways"][number];
  const key = plan.caller === "revoked" ? null : world.keys[plan.caller];
  const revokedBefore = world.revoked;
  const text = key?.text ?? revokedBefore?.text ?? "sk-service-unknown";
  const target = {
    url: plan.isProxied ? gateway.proxiedUrl : gateway.url,
    key: text,
    requestId: `${plan.name}-${turn}`,
  };
  // Only the first try leaves: the others are there to see what became of it.
  const seen = await send(turn === 0 ? plan : { ...plan, departure: null }, target);
  return {
    seen,
    keyId: key?.id ?? revokedBefore?.id ?? null,
    isDisturbed: gateway.wasDisturbed(seen.beganMs, seen.endedMs),
    revocation: revocationOf(world, { text, key, seen, revokedBefore }),
  };
}

function revocationOf(
  world: World,
  {
    text,
    key,
    seen,
    revokedBefore,
  }: Pick<SentTry, "seen"> & { text: string; key: { readonly id: string } | null; revokedBefore: World["revoked"] },
): SentTry["revocation"] {
  if (key === null) return revokedBefore === null || seen.beganMs > revokedBefore.knownMs ? "certain" : "possible";
  // The key was replaced while this call was under way.
  return Object.values(world.keys).some((current) => current.text === text) ? "none" : "possible";
}

/** When the faults are over, every gateway answers again. Its calls are judged like all others. */
async function probe(run: Run, { step, processes }: StepPlan): Promise<{ calls: SentCall[]; problems: string[] }> {
  const { world } = run;
  const calls: SentCall[] = [];
  const problems: string[] = [];
  for (const gateway of world.gateways.slice(0, processes)) {
    const lateAtMs = performance.now() + PROBE_MS_MAX;
    for (;;) {
      const plan = probePlan(`sim-${step}-${1000 + calls.length}`, gateway.index);
      world.provider.expect([plan]);
      run.tally.requests += 1;
      const sent = await sendTry(world, plan, 0);
      calls.push({ plan, tries: [sent] });
      if (sent.seen.status === 200) break;
      if (performance.now() > lateAtMs) {
        problems.push(`gateway ${gateway.index} does not answer again: ${sent.seen.status} ${sent.seen.text}`);
        break;
      }
      await wait(100);
    }
  }
  return { calls, problems };
}

function probePlan(name: string, process: number): CallPlan {
  const usage = { input: 7, cacheRead: 0, cacheWrite: 0, output: 3 };
  return {
    name,
    format: "chat",
    isStream: false,
    wantsUsage: false,
    model: "auto",
    maxTokens: 50,
    padding: 0,
    caller: "rich",
    process,
    isProxied: false,
    startMs: 0,
    departure: null,
    idempotencyKey: null,
    tries: 1,
    isTwin: false,
    attempts: [{ kind: "answers", usage, words: 3, paceMs: 0, eventsBefore: 0 }],
  };
}

function judgeOne({ world, charges }: Run, call: SentCall): readonly string[] {
  return judgeCall(call, { providerCalls: world.provider.calls.get(call.plan.name) ?? [], charges });
}

/** The lines that are new, the sums of all, the top-ups, and the limits of keys. */
async function judgeLedger(run: Run, charged: Set<SentCall>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const account of ["rich", "poor"] as const) {
    for (const { id, kind, amountUsd, requestId } of await readNewLines(run.world, account, run.knownLines)) {
      run.knownLines.add(id);
      const amount = decimal(amountUsd, 9);
      run.sums[account] += amount;
      if (kind === "charge")
        problems.push(...noteCharge(run, { requestId: requestId ?? "", amount: -amount }, charged));
      else problems.push(...noteTopUp(run, account, amount));
    }
    const { posted } = await walletOf(run.world, account);
    if (posted !== run.sums[account])
      problems.push(`${account} has ${posted}, and its entries come to ${run.sums[account]}`);
  }
  for (const [amount, account] of run.world.topUps) {
    if (!run.seenTopUps.has(amount)) problems.push(`a top-up of ${amount} for ${account} is not in the ledger`);
  }
  return [...problems, ...(await judgeLimits(run))];
}

function noteCharge(run: Run, { requestId, amount }: Charge, charged: Set<SentCall>): readonly string[] {
  if (run.charges.has(requestId)) return [`${requestId} is charged twice`];
  run.charges.set(requestId, amount);
  run.tally.charges += 1;
  const call = run.sent.get(requestId.replace(/-\d+$/, ""));
  if (call === undefined) return [`${requestId} is charged, and nobody sent it`];
  charged.add(call);
  return [];
}

function noteTopUp({ world, seenTopUps }: Run, account: AccountName, amount: bigint): readonly string[] {
  if (world.topUps.get(amount) !== account) return [`${account} got ${amount} that nobody added`];
  if (seenTopUps.has(amount)) return [`the top-up of ${amount} for ${account} counts twice`];
  seenTopUps.add(amount);
  return [];
}

/** What a key has spent is the sum of its charges, and within its limit. */
async function judgeLimits({ world, sent, charges }: Run): Promise<readonly string[]> {
  const sums = new Map<string, bigint>();
  for (const { tries } of sent.values()) {
    for (const { keyId, seen } of tries) {
      if (keyId !== null) sums.set(keyId, (sums.get(keyId) ?? 0n) + (charges.get(seen.requestId) ?? 0n));
    }
  }
  return [...(await readSpent(world))].flatMap(([id, spent]) => {
    const limit = world.everyKey.get(id)?.spendLimit ?? null;
    if (limit === null) return [];
    const sum = sums.get(id) ?? 0n;
    return [
      ...(spent === sum ? [] : [`key ${id} has spent ${spent}, and its charges come to ${sum}`]),
      ...(spent <= limit ? [] : [`key ${id} has spent ${spent} of ${limit}`]),
    ];
  });
}

async function judgeLog(
  { world, charges }: Run,
  plan: StepPlan,
  calls: readonly SentCall[],
  beganMs: number,
): Promise<readonly string[]> {
  const loss = {
    wasKilled: world.gateways.some((gateway) => gateway.wasKilledSince(beganMs)),
    wasReported: world.gateways.some((gateway) => gateway.lostRecordsSince(beganMs)),
  };
  const ids = calls.flatMap(({ tries }) => tries.map(({ seen }) => seen.requestId));
  const charged = new Map([...charges].filter(([id]) => ids.includes(id)));
  const lines = await readLog(world, plan.step, loss.wasKilled || loss.wasReported ? [] : [...charged.keys()]);
  return judgeRecords(charged, lines, loss);
}

/** At the end each gateway stops with 0, and the command line finds nothing in the ledger either. */
async function stopAll({ gateways }: World): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const gateway of gateways) await stop(gateway, problems);
  const verdict = gateways[0]?.verifyLedger();
  if (verdict?.status !== 0) problems.push(`switchyard ledger verify: ${verdict?.stdout}${verdict?.stderr}`);
  return problems;
}

function note({ world, tally }: Run, calls: readonly SentCall[]): void {
  for (const { plan, tries } of calls) {
    for (const { seen } of tries) count(tally.outcomes, seen.status === null ? "no status" : String(seen.status));
    for (const { kind } of world.provider.calls.get(plan.name) ?? []) {
      tally.providerCalls += 1;
      count(tally.faults, kind);
    }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
