// Says how often a task gets the same tier in two languages, by set and by language.

import { TIERS, type Tier, tierRank } from "../../src/core/tiers.ts";
import type { Router } from "../routers.ts";
import type { TranslatedSet } from "./translations.ts";

interface Agreement {
  readonly name: string;
  readonly pairs: number;
  readonly same: number;
  readonly within: number;
  readonly byLanguage: ReadonlyMap<string, LanguageAgreement>;
}

interface LanguageAgreement {
  pairs: number;
  same: number;
  readonly tiers: Map<Tier, number>;
}

export function measureAgreement(router: Router, sets: readonly TranslatedSet[]): readonly Agreement[] {
  return sets.map(({ name, tasks }) => {
    const byLanguage = new Map<string, LanguageAgreement>();
    let [pairs, same, within] = [0, 0, 0];
    for (const task of tasks) {
      const answers = [...task].map(([language, prompt]) => {
        const { tier } = router({ id: "", source: "", prompt, label: {} });
        const found = byLanguage.get(language) ?? { pairs: 0, same: 0, tiers: new Map() };
        byLanguage.set(language, found);
        found.tiers.set(tier, (found.tiers.get(tier) ?? 0) + 1);
        return { found, tier };
      });
      for (const [at, first] of answers.entries()) {
        for (const second of answers.slice(at + 1)) {
          const isSame = first.tier === second.tier;
          pairs++;
          same += isSame ? 1 : 0;
          within += Math.abs(tierRank(first.tier) - tierRank(second.tier)) <= 1 ? 1 : 0;
          for (const { found } of [first, second]) {
            found.pairs++;
            found.same += isSame ? 1 : 0;
          }
        }
      }
    }
    return { name, pairs, same: same / pairs, within: within / pairs, byLanguage };
  });
}

export function writeAgreement(agreements: readonly Agreement[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  return agreements
    .flatMap(({ name, pairs, same, within, byLanguage }) => [
      `${name}: the same tier in ${percent(same)} of ${pairs} pairs, at most one tier apart in ${percent(within)}`,
      `| language | same tier | ${TIERS.join(" | ")} |`,
      `|---|---|${TIERS.map(() => "---|").join("")}`,
      ...[...byLanguage].map(
        ([language, found]) =>
          `| ${language} | ${percent(found.same / found.pairs)} | ${TIERS.map((tier) => found.tiers.get(tier) ?? 0).join(" | ")} |`,
      ),
    ])
    .join("\n");
}
