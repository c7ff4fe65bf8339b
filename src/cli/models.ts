// `switchyard models list`: the catalogue as this configuration has it. Opens nothing and calls nobody.

import { type Catalog, isRoutable } from "../catalog/catalog.ts";
import type { Model } from "../core/model.ts";
import { TIERS, type Tier } from "../core/tiers.ts";
import { writeModel } from "../formats/model-list.ts";
import type { Arguments } from "./arguments.ts";
import { readWord } from "./profile-order.ts";
import { loadSettings, printProblems } from "./settings.ts";
import { formatTable } from "./table.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";
import { explainFailure, isOn, splitFlags, textOf, UsageError } from "./usage.ts";

export async function models({ words, flags }: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  try {
    const { own, config } = splitFlags(flags, ["tier", "json", "no-color"]);
    if (words[0] !== "list" || words.length > 1) throw new UsageError("Say what to do: models list.");
    const wanted = textOf(own, "tier");
    const tier = wanted === null ? null : readWord(wanted, TIERS, "tier");
    const loaded = loadSettings(config, terminal);
    if (!loaded.ok) return printProblems(loaded, terminal);
    const { catalog } = loaded.settings;
    const shown = tier === null ? [...catalog.models.values()] : catalog.chains[tier];
    if (isOn(own, "json")) {
      const data = shown.map((model) => ({
        ...writeModel(model, catalog),
        provider: model.provider,
        tier: model.tier,
      }));
      terminal.out(`${JSON.stringify({ data }, null, 2)}\n`);
    } else print(shown, { catalog, tier, terminal });
    return 0;
  } catch (error) {
    return explainFailure(error, "models", terminal);
  }
}

const HEADINGS = ["ID", "PROVIDER", "TIER", "IN $/M", "OUT $/M", "CONTEXT", "BFCL", "CAN"];

interface Printing {
  readonly catalog: Catalog;
  readonly tier: Tier | null;
  readonly terminal: Terminal;
}

function print(shown: readonly Model[], { catalog, tier, terminal }: Printing): void {
  terminal.out(formatTable([HEADINGS, ...shown.map(rowOf)]));
  const routable = shown.filter((model) => isRoutable(catalog, model)).length;
  const order = tier === null ? "" : `, in the order ${tier} tries them`;
  terminal.say(`\n${shown.length} models${order}; ${routable} can be used with the providers configured.\n`);
}

function rowOf(model: Model): readonly string[] {
  const { id, provider, tier, price, context, scores, capabilities } = model;
  const perMillion = (micro: number | undefined): string => (micro === undefined ? "-" : String(micro / 1e6));
  return [
    id,
    provider,
    tier,
    perMillion(price?.input),
    perMillion(price?.output),
    String(context),
    String(scores?.overall ?? "-"),
    [...capabilities].join(" "),
  ];
}
