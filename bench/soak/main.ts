// npm run soak: mixed traffic with provider faults against the built gateway, then a verdict. Are all charges right, did
// anything happen that must not, and does anything inside grow? Ends with 1 when something is wrong.

import { parseArgs } from "node:util";
import { createRandom } from "../../test/support/random.ts";
import { type ChargeLine, compareCharges } from "./charges.ts";
import { type SoakGateway, startSoakGateway } from "./gateway.ts";
import { startSoakProvider } from "./provider.ts";
import { runTraffic, type Tally } from "./traffic.ts";
import { createWatch, type Judged, type Watch } from "./watch.ts";

const USAGE = `usage: npm run soak -- --minutes N [--seed S] [--clients N] [--faults N]
  --minutes N  how long; memory is judged from 5 minutes on
  --seed S     what clients and providers do, again; the timing of a machine is never the same
  --clients N  how many clients at once (16)
  --faults N   one in N answers of the providers is a fault (12); 0 for none`;
const SAMPLE_MS = 5_000;
const REPORT_MS = 60_000;
/** In a shorter run most of the time is warm-up, in which memory still grows. */
const JUDGED_MINUTES_MIN = 5;
/** Idle connections to providers are closed after half a minute. */
const IDLE_MS = 35_000;

/** The command line. */
interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly clients: number;
  readonly faultEvery: number;
}

/** The exit code. */
async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) {
    console.log(USAGE);
    return 2;
  }
  const { minutes, seed, clients, faultEvery } = options;
  console.log(`soaking for ${minutes} min, ${clients} clients, one fault in ${faultEvery} answers, seed ${seed}`);
  const random = createRandom(seed);
  const provider = await startSoakProvider(random, faultEvery);
  const gateway = await startSoakGateway(process.cwd(), provider.url);
  const watch = createWatch(gateway.url);
  const endAtMs = performance.now() + minutes * 60_000;
  const isOver = (): boolean => performance.now() >= endAtMs || gateway.complaints.some((line) => /ended/.test(line));
  const watching = keepWatching(watch, isOver);
  const tally = await runTraffic({ ...gateway, random, clients, isOver });
  await watching;
  const judged = watch.judge();
  const problems = await judge({ gateway, tally, judged, isLong: minutes >= JUDGED_MINUTES_MIN });
  print({ tally, judged, atIdle: await idleFigures(watch) });
  const code = await gateway.stop();
  if (code !== 0) problems.push(`the gateway ended with ${code}, not with 0`);
  await provider.close();
  for (const problem of problems.slice(0, 50)) console.log(`✗ ${problem}`);
  console.log(problems.length === 0 ? "✓ nothing is wrong" : `✗ ${problems.length} things are wrong`);
  return problems.length === 0 ? 0 : 1;
}

/** Reads the options; null for wrong usage. */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string" },
      seed: { type: "string", default: String(Date.now() % 2_147_483_647) },
      clients: { type: "string", default: "16" },
      faults: { type: "string", default: "12" },
    },
  });
  const [minutes = 0, seed = 0, clients = 0, faultEvery = 0] = [
    values.minutes,
    values.seed,
    values.clients,
    values.faults,
  ].map(Number);
  const isRight = minutes > 0 && clients >= 1 && Number.isInteger(seed) && Number.isInteger(faultEvery);
  return isRight && faultEvery >= 0 ? { minutes, seed, clients, faultEvery } : null;
}

/** Samples until the end, and prints the figures every minute. */
async function keepWatching(watch: Watch, isOver: () => boolean): Promise<void> {
  const startedAtMs = performance.now();
  let reportedAtMs = startedAtMs;
  while (!isOver()) {
    await watch.sample().catch(() => undefined);
    if (performance.now() - reportedAtMs >= REPORT_MS) {
      reportedAtMs = performance.now();
      const figures = Object.entries(watch.latest()).map(([name, value]) => `${name} ${Math.round(value)}`);
      console.log(`${Math.round((reportedAtMs - startedAtMs) / 60_000)} min: ${figures.join(", ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
}

/** Measurements that the verdict is made of. */
interface Evidence {
  readonly gateway: SoakGateway;
  readonly tally: Tally;
  readonly judged: readonly Judged[];
  readonly isLong: boolean;
}

/** Everything that is wrong, in words. */
async function judge({ gateway, tally, judged, isLong }: Evidence): Promise<string[]> {
  const problems = [...tally.violations, ...gateway.complaints];
  if (gateway.complaints.some((line) => /ended/.test(line))) return problems;
  await untilNothingIsHeld(gateway);
  const verdict = (await (await gateway.api("GET", "/api/ledger/verify")).json()) as {
    ok: boolean;
    openHolds: number;
    problems: readonly unknown[];
  };
  if (!verdict.ok || verdict.openHolds > 0) problems.push(`the ledger: ${JSON.stringify(verdict).slice(0, 500)}`);
  problems.push(...compareCharges(tally.expected, await chargesOf(gateway)));
  for (const { name, unit, slope, isRising } of judged) {
    if (isRising && (isLong || unit === ""))
      problems.push(`${name} rises: ${slope.perHour.toFixed(1)} ${unit} an hour`);
  }
  return problems;
}

/** Charges of disconnected clients are settled a moment later. */
async function untilNothingIsHeld({ api }: SoakGateway): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    const { heldUsd } = (await (await api("GET", "/api/credits")).json()) as { heldUsd: string };
    if (heldUsd === "0") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The whole ledger, page by page. */
async function chargesOf({ api }: SoakGateway): Promise<readonly ChargeLine[]> {
  const lines: ChargeLine[] = [];
  let next: string | null = "";
  while (next !== null) {
    const answer = await api("GET", `/api/ledger?limit=500${next === "" ? "" : `&after=${next}`}`);
    const page = (await answer.json()) as { data: readonly ChargeLine[]; next: string | null };
    lines.push(...page.data);
    next = page.next;
  }
  return lines;
}

/** The figures after a pause: what does not go down again may be a leak. */
async function idleFigures(watch: Watch): Promise<Readonly<Record<string, number>>> {
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  await watch.sample();
  return watch.latest();
}

interface Findings {
  readonly tally: Tally;
  readonly judged: readonly Judged[];
  readonly atIdle: Readonly<Record<string, number>>;
}

/** Counts by kind and outcome, then the figures. */
function print({ tally, judged, atIdle }: Findings): void {
  const total = [...tally.outcomes.values()].reduce((sum, count) => sum + count, 0);
  console.log(`\n${total} requests, ${tally.expected.size} of them completions with their price checked`);
  for (const [name, count] of [...tally.outcomes].sort()) console.log(`${String(count).padStart(8)}  ${name}`);
  console.log("\nfigure               first     last   at rest   per hour in the later part");
  for (const { name, unit, first, last, slope } of judged) {
    const cells = [first, last, atIdle[name] ?? 0].map((value) => value.toFixed(0).padStart(8));
    const sigma = Math.abs(slope.significance) > 1e6 ? "" : ` (${slope.significance.toFixed(1)} sigma)`;
    console.log(`${name.padEnd(18)}${cells.join(" ")}   ${slope.perHour.toFixed(1).padStart(8)} ${unit}${sigma}`);
  }
  console.log("");
}

process.exitCode = await main();
