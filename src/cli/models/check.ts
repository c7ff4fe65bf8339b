// `switchyard models check`: asks every configured provider for its list of models and says what of the catalogue does not
// fit it. Nothing is charged and nothing is changed.

import type { Settings } from "../../config/settings.ts";
import type { Listing } from "../../gateway/operate/list-models.ts";
import { printJson } from "../command/command.ts";
import { countStates, formatCheck, markOf } from "../command/symbols.ts";
import { formatTable } from "../command/table.ts";
import type { Terminal } from "../command/terminal.ts";
import { FAILED } from "../command/usage.ts";
import { listingCheck, listProviders } from "../doctor/providers.ts";
import { findModels, type ModelFinding } from "./findings.ts";

export interface CheckOrder {
  readonly isJson: boolean;
  readonly isColoured: boolean;
}

export async function checkModels(order: CheckOrder, { catalog }: Settings, terminal: Terminal): Promise<number> {
  const listings = await listProviders(catalog);
  const findings = findModels(catalog, listings, terminal.now());
  const checks = listings.map(listingCheck);
  const isOk = countStates([...checks, ...findings]).failed === 0;
  if (order.isJson) {
    const known = new Set([...catalog.models.values()].map(({ upstream }) => upstream));
    const providers = listings.map((listing, index) => ({ ...checks[index], ...writeListing(listing, known) }));
    printJson({ ok: isOk, providers, models: findings.map(writeFinding) }, terminal);
  } else {
    terminal.out(checks.map((check) => formatCheck(check, order.isColoured)).join(""));
    if (checks.length > 0) terminal.out("\n");
    terminal.out(tableOf(findings, order.isColoured));
    terminal.say(`\n${adviceOn(findings).join("\n")}\n`);
  }
  return isOk ? 0 : FAILED;
}

function writeListing({ provider, models }: Listing, known: ReadonlySet<string>): object {
  const others = models?.map(({ id }) => id).filter((id) => !known.has(id)) ?? null;
  return { id: provider.id, listed: models?.length ?? null, notInCatalogue: others };
}

function writeFinding(finding: ModelFinding): object {
  const { model, tiers, state, result, listedAs, listedPrice, isPriceWrong, priceOldDays } = finding;
  const { id, provider, upstream, price, priceAsOf, priceSource } = model;
  const usd = (told: { readonly input: number; readonly output: number } | null): object | null =>
    told === null ? null : { input: told.input / 1e6, output: told.output / 1e6 };
  return {
    ...{ id, provider, upstream, tiers, state, result, listedAs, price: usd(price), listedPrice: usd(listedPrice) },
    ...{ isPriceWrong, priceAsOf, priceSource, priceOldDays },
  };
}

const HEADINGS = ["MODEL", "PROVIDER", "ASKED FOR AS", "ROUTED IN", "RESULT"];

/** The marks come last: a table takes out what could colour a screen. */
function tableOf(findings: readonly ModelFinding[], isColoured: boolean): string {
  const rows = findings.map((finding) => {
    const { model, tiers } = finding;
    return [model.id, model.provider, model.upstream, tiers.join(" ") || "-", resultOf(finding)];
  });
  const [heading = "", ...lines] = formatTable([HEADINGS, ...rows])
    .trimEnd()
    .split("\n");
  const markedLines = lines.map((line, index) => `${markOf(findings[index]?.state ?? "ok", isColoured)} ${line}`);
  return `${[`  ${heading}`, ...markedLines].join("\n")}\n`;
}

function resultOf({ model, result, listedAs, listedPrice, isPriceWrong, priceOldDays }: ModelFinding): string {
  const price = (told: { readonly input: number; readonly output: number }): string =>
    `${told.input / 1e6}/${told.output / 1e6}`;
  const parts = [
    listedAs === null || listedAs === model.upstream ? result : `${result} as ${listedAs}`,
    ...(isPriceWrong && listedPrice !== null
      ? [`price ${model.price === null ? "none" : price(model.price)}, the provider says ${price(listedPrice)}`]
      : []),
    ...(priceOldDays === null ? [] : [`price of ${model.priceAsOf}, ${priceOldDays} days old`]),
  ];
  return parts.join("; ");
}

const ADVICE: readonly (readonly [what: string, fix: string, isSo: (finding: ModelFinding) => boolean])[] = [
  [
    "missing",
    "Correct 'upstream' under models:, take it out of tiers:, or ask the provider for access.",
    ({ result }) => result === "missing",
  ],
  ["priced wrongly", "Write the provider's price under models:.", ({ isPriceWrong }) => isPriceWrong],
  [
    "with old prices",
    "Compare them with the vendors' pages, and write what changed under models:.",
    ({ priceOldDays }) => priceOldDays !== null,
  ],
  [
    "not checked",
    "Mend the provider first; one without a list can be asked: switchyard doctor --test",
    ({ result }) => result === "unchecked",
  ],
  [
    "simulated",
    "Set the key of a provider, such as OPENAI_API_KEY, to check a real one.",
    ({ result }) => result === "simulated",
  ],
];

function adviceOn(findings: readonly ModelFinding[]): readonly string[] {
  const found = ADVICE.flatMap(([what, fix, isSo]) => {
    const count = findings.filter(isSo).length;
    return count === 0 ? [] : [`${count} ${what}. ${fix}`];
  });
  return found.length > 0
    ? found
    : [`All ${findings.length} models are offered. See one decided: switchyard route "Hello"`];
}
