// The balance day by day, as a line; the table beside it has what each day added and took.

import { useLoad } from "../../api.ts";
import { Figure } from "../../charts/figure.tsx";
import { LineChart } from "../../charts/lines.tsx";
import { timeLabel } from "../../charts/scale.ts";
import { plural, usd } from "../../format.ts";
import type { LedgerDay, List } from "../../types.ts";
import { BALANCE_EVERY_MS } from "./months.tsx";
import * as TEXT from "./text.ts";

const DAYS = 30;

/** Stays hidden until there are two days to compare. */
export function Days() {
  const load = useLoad<List<LedgerDay>>(`/api/ledger/days?limit=${DAYS}`, { everyMs: BALANCE_EVERY_MS });
  const days = load.data?.data ?? [];
  if (days.length < 2) return null;
  const oldestFirst = days.toReversed();
  const charged = days.reduce((sum, { chargesUsd }) => sum - Number(chargesUsd), 0);
  return (
    <Figure
      title={TEXT.dailyBalance}
      trend={TEXT.chargedIn(usd(charged), plural(days.length, "day"))}
      table={{
        head: [TEXT.day, TEXT.topUps, TEXT.charges, TEXT.closingBalance],
        rows: days.map(({ day, topUpsUsd, chargesUsd, closingUsd }) => [
          timeLabel(Date.parse(day), "day"),
          ...[topUpsUsd, -Number(chargesUsd), closingUsd].map(usd),
        ]),
      }}
    >
      <LineChart
        label={TEXT.dailyBalance}
        times={oldestFirst.map(({ day }) => Date.parse(day))}
        step="day"
        format={usd}
        lines={[
          { name: TEXT.balance, mark: "accent", values: oldestFirst.map(({ closingUsd }) => Number(closingUsd)) },
        ]}
      />
    </Figure>
  );
}
