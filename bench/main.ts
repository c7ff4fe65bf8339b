// npm run bench: runs the chosen benchmarks, or all, and prints tables. Compare figures of one run with each other only:
// another machine, or another hour, gives other ones.

import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readMachine } from "../src/config/machine.ts";
import { ALONE, type Crew, workersFor } from "../src/workers/count.ts";
import { type BudgetsPlan, measureBudgets } from "./budgets.ts";
import { type ClassifyPlan, measureClassify } from "./classify.ts";
import { SIZES } from "./clients/bodies.ts";
import { type CoresPlan, measureCores } from "./cores.ts";
import { type DashboardPlan, measureDashboard } from "./dashboard.ts";
import { type FirstPlan, measureFirst } from "./first.ts";
import type { OthersWanted } from "./harness/others.ts";
import { type Rig, startRig } from "./harness/rig.ts";
import { benchSettings } from "./harness/settings.ts";
import { formatTable, type Table } from "./harness/table.ts";
import { type HotPlan, measureHotAccount } from "./hot-account.ts";
import { type LatencyPlan, measureLatency } from "./latency.ts";
import { type LedgerPlan, measureLedger } from "./ledger.ts";
import { measureOverload, type OverloadPlan } from "./overload.ts";
import { measureRequests, type RequestsPlan } from "./requests.ts";
import { measureScaling, type ScalingPlan } from "./scaling.ts";
import { measureStream, type StreamPlan } from "./stream.ts";

/** In the order in which they are listed and run. */
const NAMES = [
  "requests",
  "latency",
  "stream",
  "classify",
  "ledger",
  "budgets",
  "dashboard",
  "processes",
  "cores",
  "hot",
  "overload",
  "first",
] as const;

type Name = (typeof NAMES)[number];

/** Stands for the benchmarks in which peers are measured, with our gateway as it starts by default. */
const PEERS = "peers";
const BESIDE_PEERS: readonly string[] = ["requests", "latency", "stream", "cores"] satisfies readonly Name[];

/** Benchmarks that start their own processes, or none. */
const WITHOUT_RIG: ReadonlySet<Name> = new Set([
  "classify",
  "ledger",
  "budgets",
  "dashboard",
  "processes",
  "cores",
  "hot",
  "overload",
  "first",
]);

/** Duration and repetitions of each benchmark. */
interface Plan {
  readonly requests: RequestsPlan;
  readonly latency: LatencyPlan;
  readonly stream: StreamPlan;
  readonly classify: ClassifyPlan;
  readonly ledger: LedgerPlan;
  readonly budgets: BudgetsPlan;
  readonly dashboard: DashboardPlan;
  readonly processes: ScalingPlan;
  readonly cores: CoresPlan;
  readonly hot: HotPlan;
  readonly overload: OverloadPlan;
  readonly first: FirstPlan;
}

/** About eight minutes in all; the figures in docs/operate/performance.md come from it. */
const FULL: Plan = {
  requests: { rounds: 5, warmUpMs: 10_000, roundMs: 1_000, sizes: SIZES, hasVariants: true },
  latency: { rounds: 3, warmUpMs: 10_000, roundMs: 2_000, sizes: ["small", "100 KB"] },
  stream: { warmUpRounds: 300, rounds: 3, chunks: 60, openStreams: 1_000 },
  classify: { forMs: 800 },
  ledger: { warmUpMs: 5_000, forMs: 3_000, concurrent: 64 },
  budgets: { rounds: 15, warmUpMs: 5_000, roundMs: 1_000 },
  dashboard: { rows: 200_000, rounds: 30 },
  processes: { rounds: 3, warmUpMs: 4_000, roundMs: 2_000 },
  cores: { rounds: 3, warmUpRounds: 2, warmUpMs: 20_000, roundMs: 4_000, proxyMs: 4_000 },
  hot: { warmUpMs: 4_000, forMs: 10_000, pairsPerSecond: 2_000 },
  overload: { warmUpMs: 10_000, forMs: 8_000, openStreams: 3_000 },
  first: { starts: 7, requests: 1_004 },
};

/** Fewer sizes and rows, and less warm-up: for a machine that is lent by the minute. */
const SHORT: Plan = {
  ...FULL,
  requests: { rounds: 10, warmUpMs: 5_000, roundMs: 700, sizes: ["small", "4 KB", "100 KB"], hasVariants: false },
  latency: { rounds: 5, warmUpMs: 2_000, roundMs: 2_000, sizes: ["small"] },
  stream: { warmUpRounds: 150, rounds: 5, chunks: 60, openStreams: 1_000 },
  cores: { rounds: 3, warmUpRounds: 1, warmUpMs: 10_000, roundMs: 3_000, proxyMs: 2_000 },
  first: { starts: 3, requests: 1_004 },
};

/** About eight minutes with two peers. */
const BESIDE: Plan = { ...SHORT, requests: { ...SHORT.requests, rounds: 5, sizes: ["small", "100 KB"] } };

/** Some seconds: enough to see that everything runs. */
const QUICK: Plan = {
  requests: { rounds: 1, warmUpMs: 300, roundMs: 300, sizes: SIZES, hasVariants: true },
  latency: { rounds: 1, warmUpMs: 100, roundMs: 300, sizes: ["small", "100 KB"] },
  stream: { warmUpRounds: 3, rounds: 1, chunks: 20, openStreams: null },
  classify: { forMs: 60 },
  ledger: { warmUpMs: 300, forMs: 500, concurrent: 64 },
  budgets: { rounds: 1, warmUpMs: 300, roundMs: 300 },
  dashboard: { rows: 10_000, rounds: 10 },
  processes: { rounds: 1, warmUpMs: 500, roundMs: 500 },
  cores: { rounds: 1, warmUpRounds: 1, warmUpMs: 1_000, roundMs: 500, proxyMs: 300 },
  hot: { warmUpMs: 1_000, forMs: 2_000, pairsPerSecond: 1_000 },
  overload: { warmUpMs: 1_000, forMs: 4_000, openStreams: 500 },
  first: { starts: 1, requests: 50 },
};

const WORKERS = [1, 2, 4, 8, 16];

/** Ignored by git. */
const PROFILES = ".cache/profiles";

const USAGE = `usage: npm run bench -- [--quick] [--short] [--workers] [--before DIR] [--peers] [--profile] [--rows N] [--database URL] [--count N,N] [--postgres] [${[...NAMES, PEERS].join(" | ")}]...
  --quick    a look in a few seconds, with wider errors
  --short    fewer sizes and rows, and less warm-up
  --workers  measures gateways with several workers as well
  --before DIR    measures the gateway of another checkout as well, which must be built
  peers      ${BESIDE_PEERS.join(", ")} with --peers and the default number of workers
  --peers    measures nginx, Portkey, Bifrost, GoModel and LiteLLM as well, where they are installed
  --peers-in DIR  where to look for them beside PATH; may be given again
  --profile  leaves a CPU profile of the gateway in ${PROFILES}
  --rows N   how many requests the dashboard is measured with
  --database URL  a store that switchyard demo filled, to measure the dashboard with instead of filling new ones
  --count N,N  how many workers; without it, --workers means 1, 2 and 4, and cores goes up to the cores of the machine
  --postgres   measures cores on PostgreSQL instead of SQLite`;

/** The exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: "boolean" },
      short: { type: "boolean" },
      workers: { type: "boolean" },
      before: { type: "string" },
      peers: { type: "boolean" },
      "peers-in": { type: "string", multiple: true },
      profile: { type: "boolean" },
      rows: { type: "string" },
      database: { type: "string" },
      count: { type: "string" },
      postgres: { type: "boolean" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  const isBeside = positionals.includes(PEERS);
  const unknown = positionals.filter((name) => name !== PEERS && !NAMES.includes(name as Name));
  const isWrong =
    unknown.length > 0 ||
    !/^[1-9]\d{2,7}$/.test(values.rows ?? "100") ||
    !/^[1-9]\d?(-[1-9]\d?)?(,[1-9]\d?(-[1-9]\d?)?)*$/.test(values.count ?? "1");
  if (values.help === true || isWrong) {
    console.log(USAGE);
    return isWrong ? 2 : 0;
  }
  const wantedNames = isBeside ? [...positionals, ...BESIDE_PEERS] : positionals;
  const names = wantedNames.length > 0 ? NAMES.filter((name) => wantedNames.includes(name)) : NAMES;
  const counts = values.count?.split(",").map(crewOf);
  const plan = planOf({ isQuick: values.quick === true, isBeside, isShort: values.short === true });
  const peersIn =
    values["peers-in"]?.map((folder) => resolve(folder)) ?? (isBeside || values.peers === true ? [] : null);
  const before = values.before === undefined ? null : resolve(values.before);
  const usual = workersFor("auto", readMachine());
  const [{ model = "unknown processor" } = {}] = cpus();
  console.log(`Node ${process.versions.node}, ${cpus().length} x ${model}\n`);
  if (names.includes("classify")) print([runClassify(plan.classify)]);
  if (names.includes("ledger")) print([await measureLedger(plan.ledger)]);
  if (names.includes("dashboard")) {
    const rows = Number(values.rows ?? plan.dashboard.rows);
    print(await measureDashboard({ ...plan.dashboard, rows, database: values.database ?? null }));
  }
  if (names.includes("budgets")) print([await measureBudgets(plan.budgets)]);
  if (names.includes("processes")) print([await measureScaling(plan.processes)]);
  if (names.includes("cores")) {
    const besidePeers = usual.most > 1 ? [ALONE, usual] : [ALONE];
    const ofMachine = WORKERS.filter((count) => count <= cpus().length).map(crewOf);
    const crews = counts ?? (isBeside ? besidePeers : ofMachine);
    const store = values.postgres === true ? "PostgreSQL" : "SQLite";
    print([await measureCores(plan.cores, { workers: crews, before, peersIn }, store)]);
  }
  if (names.includes("hot")) print([await measureHotAccount(plan.hot)]);
  if (names.includes("overload")) print(await measureOverload(plan.overload));
  const ofWorkers = values.workers === true ? (counts ?? WORKERS.slice(0, 3).map(crewOf)) : [];
  const workers = isBeside && usual.most > 1 ? [...ofWorkers, usual] : ofWorkers;
  const wanted: OthersWanted = { workers, before, peersIn };
  if (names.includes("first")) print([await measureFirst(plan.first, wanted)]);
  const onRig = names.filter((name) => !WITHOUT_RIG.has(name));
  if (onRig.length > 0) await runOnRig(onRig, plan, { isProfiled: values.profile === true, wanted });
  return 0;
}

function planOf({ isQuick, isBeside, isShort }: Readonly<Record<"isQuick" | "isBeside" | "isShort", boolean>>): Plan {
  if (isQuick) return QUICK;
  if (isBeside) return BESIDE;
  return isShort ? SHORT : FULL;
}

/** `4` or `4-16`, as in the settings. */
function crewOf(count: number | string): Crew {
  const [least = 1, most = least] = String(count).split("-").map(Number);
  return { least, most };
}

/** Needs no server; port 9 is never called. */
function runClassify(plan: ClassifyPlan): Table {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  try {
    return measureClassify(benchSettings(folder, 9).catalog, plan);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One rig serves several benchmarks; with --profile the gateway is profiled for each. */
async function runOnRig(
  names: readonly Name[],
  plan: Plan,
  { isProfiled, wanted }: { readonly isProfiled: boolean; readonly wanted: OthersWanted },
): Promise<void> {
  const runs: Readonly<Record<string, (rig: Rig) => Promise<readonly Table[]>>> = {
    requests: async (rig) => [await measureRequests(rig, plan.requests)],
    latency: async (rig) => [await measureLatency(rig, plan.latency)],
    stream: (rig) => measureStream(rig, plan.stream),
  };
  const rig = await startRig(wanted);
  try {
    for (const name of names) {
      if (isProfiled) await rig.gateway.process.ask("startProfile", null);
      print((await runs[name]?.(rig)) ?? []);
      if (isProfiled) await rig.gateway.process.ask("saveProfile", resolve(PROFILES, `${name}.cpuprofile`));
    }
  } finally {
    await rig.close();
  }
}

/** One after the other, as they are finished. */
function print(tables: readonly Table[]): void {
  for (const table of tables) console.log(formatTable(table));
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`The benchmarks stopped: ${error.message}`);
  return 1;
});
