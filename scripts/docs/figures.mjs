// @ts-check
// Renders the figures that depend on prices: the baseline, and what the demo's traffic saves against it.

/** @typedef {import("../../src/catalog/catalog.ts").Catalog} Catalog */

const DAY_MS = 24 * 60 * 60 * 1000;

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  const { baselinePriceOf } = await load("catalog/catalog.ts");
  const { demoCatalog } = await load("demo/configuration.ts");
  const { demoTraffic } = await load("demo/traffic.ts");
  const { DEMO_DEFAULTS } = await load("cli/demo.ts");
  /** @type {Catalog} */
  const catalog = demoCatalog();
  const { id } = catalog.baseline;
  const { input, output, asOf } = baselinePriceOf(catalog);
  const price = `$${input} / $${output} per million tokens, list prices of ${dayText(asOf)}`;
  // The traffic differs a little with the day of the demo, so the least saving of four days is published.
  const saved = Math.min(
    ...[0, 1, 2, 3].map((daysBefore) => {
      const nowMs = Date.parse(asOf) + (0.5 - daysBefore) * DAY_MS;
      return savedPercent(demoTraffic({ ...DEMO_DEFAULTS, nowMs }, catalog));
    }),
  );
  const requests = DEMO_DEFAULTS.requests.toLocaleString("en-US");
  const claim = `- **About ${saved}% below the baseline.** That is what ${requests} generated requests of the demo cost with \`auto\` (\`npm start -- serve --demo\`). The baseline sends all of them to ${id} (${price}). It is the cheapest flagship that two benchmarks rank among the first ten. Your traffic will differ; the dashboard counts it.`;
  const named = `Savings are counted against \`${id}\` (${price}), unless \`routing.baseline\` names another model.`;
  return [
    { path: "README.md", block: "savings", text: claim },
    { path: "docs/start/quickstart.md", block: "baseline", text: named },
    { path: "docs/concepts/glossary.md", block: "baseline", text: named },
    { path: "docs/reference/models.md", block: "baseline", text: named },
  ];
}

function savedPercent(/** @type {Iterable<import("../../src/core/requests/records.ts").RequestRecord>} */ records) {
  let [paid, baseline] = [0n, 0n];
  for (const { cost } of records) {
    paid += cost?.charge ?? 0n;
    baseline += cost?.baseline ?? 0n;
  }
  return Math.round((1 - Number(paid) / Number(baseline)) * 100);
}

function dayText(/** @type {string} */ day) {
  return new Date(day).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}
