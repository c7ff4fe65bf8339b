// Outcomes of the demo: some requests of the batch jobs were answered by the baseline model too, and their application
// said of a few answers whether they were right.

import type { Catalog } from "../catalog/catalog.ts";
import type { Db } from "../core/db.ts";
import { costNano } from "../core/money.ts";
import type { SampleVerdict, ShadowSample } from "../core/requests/outcomes.ts";
import type { RequestRecord } from "../core/requests/records.ts";
import { baselineCost } from "../routing/cost.ts";
import { createOutcomeStore } from "../store/requests/outcomes.ts";
import { createRequestLog } from "../store/requests/requests.ts";
import { BUDGET_ID } from "./pool.ts";
import type { DemoGroup } from "./prompts.ts";
import { createDemoRandom, type DemoRandom } from "./random.ts";

/** The newest requests that were sampled. */
const SAMPLES_MAX = 900;
/** One answer in so many was rated. */
const RATED_EVERY = 8;
/** One rated answer of a hard job in so many was bad. */
const BAD_EVERY = 3;

/** Shares of samples whose answers differ: where the cheaper model is good enough, and where it is not. */
const DIFFERING = { usual: 0.005, hard: 0.3 } as const;
/** The jobs at which cheaper models are worse. */
const HARD_JOB: DemoGroup = "product texts";
/** The share of samples with two long texts that no comparison can judge. */
const UNCLEAR = 0.15;

/** Writes samples of the newest answered requests of the profile's keys. */
export async function writeOutcomes(log: Db, records: readonly RequestRecord[], catalog: Catalog): Promise<void> {
  const random = createDemoRandom(records.length);
  const answered = records
    .filter(({ profileId, cost }) => profileId === BUDGET_ID && cost !== null)
    .slice(-SAMPLES_MAX);
  const outcomes = createOutcomeStore({ db: log, log, reader: log });
  const requests = createRequestLog(log);
  await Promise.all(answered.map((record) => outcomes.add(sampleOf(record, catalog, random))));
  const rated = answered.filter((_, index) => index % RATED_EVERY === 0);
  const rate = ({ accountId, id, keyId, atMs }: RequestRecord, isBad: boolean): Promise<void> => {
    const comment = isBad ? "Leaves out what the notes say" : null;
    return requests.rate(accountId, id, { score: isBad ? 0 : 1, tier: null, keyId, atMs: atMs + 1_000, comment });
  };
  const hard = rated.filter(isHard);
  await Promise.all(rated.map((record) => rate(record, hard.indexOf(record) % BAD_EVERY === 0)));
}

function isHard({ tags }: RequestRecord): boolean {
  return tags.job === HARD_JOB;
}

function verdictOn(record: RequestRecord, random: DemoRandom): SampleVerdict {
  if (random.next() < UNCLEAR) return "unclear";
  return random.next() < (isHard(record) ? DIFFERING.hard : DIFFERING.usual) ? "different" : "same";
}

/** The second answer costs what the same tokens cost at the baseline model. */
function sampleOf(record: RequestRecord, { baseline }: Catalog, random: DemoRandom): ShadowSample {
  const { id, accountId, atMs, decision, answeredBy, cost, latencyMs } = record;
  const verdict = verdictOn(record, random);
  const buckets = cost?.buckets ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  const outputTokens = Math.max(1, Math.round(random.skewed(buckets.output, 0.3)));
  return {
    ...{ id, accountId, profileId: BUDGET_ID, atMs, tier: decision?.tier ?? "", category: decision?.category ?? "" },
    live: {
      model: answeredBy?.model ?? "",
      outputTokens: buckets.output,
      latencyMs,
      cost: cost === null ? 0n : costNano(buckets, cost.price, 0),
    },
    second: {
      ...{ model: baseline.id, outputTokens, latencyMs: Math.round(random.skewed(2_600, 0.4)) },
      cost: baselineCost(buckets, baseline),
    },
    verdict,
    similarity: verdict === "unclear" ? Math.round((0.55 + random.next() * 0.4) * 100) / 100 : null,
    answer: null,
  };
}
