// `switchyard models list | check`: the catalogue as this configuration has it, and whether it fits what providers offer.

import { type Catalog, chainPlaces, isRoutable } from "../../catalog/catalog.ts";
import type { Settings } from "../../config/settings.ts";
import type { Model } from "../../core/model.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import { writeModel } from "../../formats/service/model-list.ts";
import type { Arguments } from "../command/arguments.ts";
import { perform, printJson, type ReadOrder, readSubcommand } from "../command/command.ts";
import { hasColour } from "../command/symbols.ts";
import { formatTable } from "../command/table.ts";
import { type Terminal, thisTerminal } from "../command/terminal.ts";
import { isOn, splitFlags, textOf } from "../command/usage.ts";
import { readWord } from "../profiles/arguments.ts";
import { checkModels } from "./check.ts";

interface Order {
  readonly kind: "list" | "check";
  readonly tier: Tier | null;
  readonly isJson: boolean;
  readonly isColoured: boolean;
}

export function models(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    ...{ name: "models", terminal, read: () => readOrder(args, terminal) },
    carryOut: async (order, settings) =>
      order.kind === "check" ? checkModels(order, settings, terminal) : list(order, settings, terminal),
  });
}

function readOrder({ words, flags }: Arguments, terminal: Terminal): ReadOrder<Order> {
  const [kind] = readSubcommand(words, "models", { list: 0, check: 0 });
  const { own, config } = splitFlags(flags, [...(kind === "list" ? ["tier"] : []), "json", "no-color"]);
  const tier = textOf(own, "tier");
  const order = { kind, isJson: isOn(own, "json"), isColoured: hasColour(own, terminal) };
  return { order: { ...order, tier: tier === null ? null : readWord(tier, TIERS, "tier") }, config };
}

function list({ tier, isJson }: Order, { catalog }: Settings, terminal: Terminal): number {
  const shown = tier === null ? [...catalog.models.values()] : catalog.chains[tier];
  if (isJson) {
    const data = shown.map((model) => ({
      ...writeModel(model, catalog),
      ...{ provider: model.provider, tier: model.tier, chains: chainPlaces(catalog, model) },
    }));
    printJson({ data }, terminal);
  } else print(shown, { catalog, tier, terminal });
  return 0;
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
  terminal.say(
    `\n${shown.length} models${order}; ${routable} can be used with the providers configured. Are they offered? switchyard models check\n`,
  );
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
