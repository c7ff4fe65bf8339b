// @ts-check
// Renders what the demo's traffic costs with `auto`: today, with the catalogue of August 2026, and with one model for
// everything.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {import("../../src/catalog/catalog.ts").Catalog} Catalog */
/** @typedef {import("../../src/core/model.ts").Model} Model */
/** @typedef {import("../../src/core/requests/records.ts").RequestRecord} RequestRecord */
/** @typedef {{ usd: number, requests: number }} Sum */

const AUGUST = "eval/costs/august.json";
const DAY_MS = 24 * 60 * 60 * 1000;
/** The traffic differs a little with the day of the demo. */
const DAYS = [0, 1, 2, 3];

/** @param {string} root @param {import("../docs.mjs").Load} load */
export async function render(root, load) {
  const { readBuiltin } = await load("catalog/builtin.ts");
  const { demoCatalog } = await load("demo/configuration.ts");
  const { baselineCost } = await load("routing/cost.ts");
  const { TIERS } = await load("core/tiers.ts");
  /** @type {Catalog} */
  const today = demoCatalog();
  const builtin = readBuiltin();
  const world = await worldOf(load, { today, asOf: builtin.tiers.asOf });
  const records = world.trafficOf(today);
  const auto = sumOf(records, ({ charge }) => charge);
  const fixed = (/** @type {Model} */ model) => ({
    ...sumOf(records, ({ buckets }) => baselineCost(buckets, model)),
    model,
  });
  const cheapestOf = (/** @type {"LIGHT" | "COMPLEX"} */ tier) =>
    today.chains[tier].map(fixed).reduce((least, each) => (each.usd < least.usd ? each : least));
  const [light, able] = [cheapestOf("LIGHT"), cheapestOf("COMPLEX")];
  const august = JSON.parse(readFileSync(join(root, AUGUST), "utf8"));
  const shipped = { ...builtin, tiers: { asOf: august.asOf, revision: 1, chains: august.chains } };
  const whole = { ...shipped, models: august.models, aliases: {} };
  const rows = [
    { name: "`auto` today", sum: auto },
    {
      name: "`auto` with the chains of 8 August, at prices of today",
      sum: world.withCatalog({ builtin: shipped }),
    },
    {
      name: "`auto` with the catalogue of 8 August, at its own prices",
      sum: world.withCatalog({ builtin: whole, baseline: august.baseline }),
    },
    { name: `\`${light.model.id}\` for everything`, sum: light },
    { name: `\`${able.model.id}\` for everything`, sum: able },
    { name: `\`${today.baseline.id}\` for everything, the baseline`, sum: fixed(today.baseline) },
  ];
  const below = records.filter(({ decision }) => decision && TIERS.indexOf(decision.tier) > TIERS.indexOf("LIGHT"));
  const share = Math.round((100 * below.length) / records.length);
  const day = new Date(builtin.tiers.asOf).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const text = [
    `List prices of ${day}, ${records.length.toLocaleString("en-US")} generated requests of the demo, with a markup of ${today.markupPpm / 10_000}% on \`auto\` alone. \`npm run docs\` computes this table.`,
    "",
    ...tableOf(rows, auto),
    "",
    `The comparison that is least kind to us is \`${light.model.id}\`, the cheapest model of the LIGHT chain. It is below the tier of ${share}% of the requests. \`${able.model.id}\` is the cheapest one that is below the tier of none.`,
  ].join("\n");
  return [{ path: "docs/contribute/routing-experiments.md", block: "costs", text }];
}

/** @param {import("../docs.mjs").Load} load @param {{ today: Catalog, asOf: string }} terms */
async function worldOf(load, { today, asOf }) {
  const { buildCatalog } = await load("catalog/build.ts");
  const { catalogAt } = await load("catalog/moment.ts");
  const { demoTraffic } = await load("demo/traffic.ts");
  const { DEMO_DEFAULTS } = await load("cli/demo.ts");
  const nowMs = Date.parse(asOf) + DAY_MS / 2;
  const providers = [...today.providers.values()].map((provider) => ({ provider }));
  /** @returns {readonly RequestRecord[]} */
  const trafficOf = (/** @type {Catalog} */ catalog) =>
    DAYS.flatMap((before) => [
      ...demoTraffic({ ...DEMO_DEFAULTS, nowMs: nowMs - before * DAY_MS }, catalogAt(catalog, nowMs).catalog),
    ]);
  const withCatalog = (/** @type {object} */ input) => {
    const { catalog, problems } = buildCatalog({ ...input, providers, markupPpm: today.markupPpm });
    if (catalog === null) throw new Error(`the catalogue of August cannot be built: ${JSON.stringify(problems)}`);
    return sumOf(trafficOf(catalog), ({ charge }) => charge);
  };
  return { trafficOf, withCatalog };
}

/** @param {readonly { name: string, sum: Sum }[]} rows @param {Sum} auto */
function tableOf(rows, auto) {
  const compared = (/** @type {Sum} */ sum) => {
    const factor = perThousand(auto) / perThousand(sum);
    if (sum === auto) return "–";
    return factor > 1 ? `${factor.toFixed(2)} times as much` : `${Math.floor((1 - factor) * 100)}% less`;
  };
  return [
    "| requests go to | USD per 1,000 requests | `auto` today costs |",
    "|---|---|---|",
    ...rows.map(({ name, sum }) => `| ${name} | ${perThousand(sum).toFixed(2)} | ${compared(sum)} |`),
  ];
}

/** @returns {Sum} */
function sumOf(
  /** @type {readonly RequestRecord[]} */ records,
  /** @type {(cost: NonNullable<RequestRecord["cost"]>) => bigint} */ costOf,
) {
  let [nano, requests] = [0n, 0];
  for (const { cost } of records) {
    if (!cost) continue;
    nano += costOf(cost);
    requests += 1;
  }
  return { usd: Number(nano) / 1e9, requests };
}

function perThousand(/** @type {Sum} */ { usd, requests }) {
  return (usd * 1000) / requests;
}
