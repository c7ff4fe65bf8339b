// A budget as a bar: what is spent, what running requests have reserved, and where spending ends at the present rate.

import { now } from "../../clock.ts";
import { ago, exact, usd, utc } from "../../format.ts";
import type { Budget } from "../../types.ts";
import * as TEXT from "./text.ts";

type BudgetStanding = Budget["values"][number];

interface BudgetBarProps {
  readonly budget: Budget;
  readonly standing: Omit<BudgetStanding, "value" | "label">;
  /** Name of the bar for screen readers. */
  readonly name: string;
}

export function BudgetBar({ budget, standing, name }: BudgetBarProps) {
  const amount = Number(budget.amountUsd);
  const [spent, reserved] = [Number(standing.spentUsd), Number(standing.reservedUsd)];
  const share = (part: number): number => (amount === 0 ? 100 : Math.min(100, (part / amount) * 100));
  const forecast = forecastOf(budget, standing);
  const isSpent = spent >= amount;
  const tone = isSpent ? "bad" : forecast !== null && forecast > amount ? "caution" : "";
  const label = TEXT.barLabel(name, usd(spent), usd(amount));
  return (
    <div class="budget">
      <svg class="budget-bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
        <rect class="budget-held" width={share(spent + reserved)} height="8" />
        <rect class={`budget-spent ${tone}`} width={share(spent)} height="8" />
        {forecast !== null && !isSpent && <rect class="budget-end" x={share(forecast) - 0.6} width="0.6" height="8" />}
      </svg>
      <p class="row faint">
        <span title={exact(standing.spentUsd)}>{TEXT.spentOf(usd(spent), usd(amount))}</span>
        <span>{leftText(Number(standing.leftUsd))}</span>
        {reserved > 0 && <span>{TEXT.reserved(usd(reserved))}</span>}
        {budget.rolling ? (
          <span>{(TEXT.periods[`rolling-${budget.period}`] ?? "").toLowerCase()}</span>
        ) : (
          <span title={utc(standing.renewsAt)}>{TEXT.renews(ago(standing.renewsAt))}</span>
        )}
      </p>
      {isSpent ? (
        <p class={budget.hard ? "bad" : "caution"}>{budget.hard ? TEXT.isSpent : TEXT.isSpentSoftly}</p>
      ) : (
        forecast !== null && <Outlook budget={budget} standing={standing} forecast={forecast} />
      )}
    </div>
  );
}

function leftText(left: number): string {
  return left < 0 ? TEXT.over(usd(-left)) : TEXT.left(usd(left));
}

function Outlook({ budget, standing, forecast }: Omit<BudgetBarProps, "name"> & { readonly forecast: number }) {
  const amount = Number(budget.amountUsd);
  if (forecast <= amount) return <p class="faint">{TEXT.forecast(usd(forecast))}</p>;
  const fromMs = Date.parse(standing.from);
  const endsAtMs = fromMs + ((now() - fromMs) * amount) / Number(standing.spentUsd);
  const when = new Date(endsAtMs).toISOString();
  return (
    <p class="caution" title={utc(when)}>
      {TEXT.forecast(usd(forecast))} {TEXT.spentBy(ago(when))}
    </p>
  );
}

/** Less of a period than this says nothing about the rest. */
const TELLING_SHARE = 0.05;

/** Spending at the end of the period at the present rate; null for rolling periods, and too early to tell. */
function forecastOf({ rolling }: Pick<Budget, "rolling">, standing: BudgetBarProps["standing"]): number | null {
  const [fromMs, untilMs] = [Date.parse(standing.from), Date.parse(standing.renewsAt)];
  const passed = (now() - fromMs) / (untilMs - fromMs);
  const spent = Number(standing.spentUsd);
  return rolling || spent === 0 || passed < TELLING_SHARE ? null : spent / Math.min(1, passed);
}
