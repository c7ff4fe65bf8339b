// Options that can change at run time: each of them reaches the settings that requests are served with.

import { expect, test } from "vitest";
import { load } from "../../../src/config/load.ts";
import type { Checked, ShownOption } from "../../../src/config/settings.ts";

const loaded = load({ flags: {}, env: {}, cwd: "/nowhere", file: null });
if (!loaded.ok) throw new Error("the defaults are wrong");
const { configuration, options } = loaded.settings;

function served(document: Parameters<typeof configuration.check>[0]): string {
  const checked = configuration.check(document);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const { options: _, warnings: __, ok: ___, ...live } = checked as Extract<Checked, { ok: true }>;
  const { baseline, markupPpm, unsureTier, hostOrder, serviceTier } = live.catalog;
  return JSON.stringify({
    ...live,
    catalog: { baseline: baseline?.id, markupPpm, unsureTier, hostOrder, serviceTier },
  });
}

/** A value that is not the default. */
function other({ path, kind, words, default: usual }: ShownOption) {
  if (kind === "switch") return usual !== "true";
  if (kind === "choice") return words.find((word) => word !== usual) ?? "";
  if (kind === "list") return ["x-other"];
  if (path === "routing.baseline") return "gpt-4o";
  return Number(usual) > 1_000_000 ? 2 ** 21 : path === "routing.markup" ? 0.2 : 17;
}

const live = options.filter(({ isLive }) => isLive);

test.each(live.map((option) => [option.path ?? "", option] as const))(
  "%s counts once a version sets it",
  (path, option) => {
    const [section = "", name = ""] = path.split(".");
    const document = { [section]: { [name]: other(option) } };
    expect(served(document)).not.toBe(served({}));
  },
);

test("secrets and what opens the network cannot change at run time", () => {
  const fixed = [
    "server.adminToken",
    "alerts.mailServer",
    "alerts.privateNetwork",
    "prices.url",
    "prices.catalogueKeys",
  ];
  expect(live.filter(({ path, isSecret }) => isSecret || fixed.includes(path ?? ""))).toEqual([]);
});
