// The tabs of one request: attempts as a waterfall, the sum behind the charge, and the payload where that is kept.

import type { AttemptRecord, ContentRecord } from "../../../src/core/requests/records.ts";
import { count, duration, exact, percent, usd } from "../../format.ts";
import { TextBlock } from "../../kit/copy.tsx";
import { Empty } from "../../kit/states.tsx";
import { failureText } from "../../parts/failure-text.ts";
import { hrefTo } from "../../router.ts";
import type { RequestDetail } from "../../types.ts";

/** One bar per attempt on the time of the whole request, and how much of it was the gateway's own. */
export function Attempts({ detail }: { readonly detail: RequestDetail }) {
  if (detail.attempts.length === 0) return <Empty title="No provider was called" />;
  const endMs = Math.max(detail.latencyMs, ...detail.attempts.map(({ startMs, durationMs }) => startMs + durationMs));
  return (
    <>
      <ol class="waterfall">
        {detail.attempts.map((attempt, index) => (
          <Attempt key={`${attempt.model}-${attempt.startMs}-${index}`} attempt={attempt} endMs={endMs} />
        ))}
      </ol>
      <dl class="facts">
        <div>
          <dt>First token</dt>
          <dd>{duration(detail.firstContentMs)}</dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>{duration(detail.latencyMs)}</dd>
        </div>
        <div>
          <dt>Gateway overhead</dt>
          <dd>{duration(detail.overheadMs)}</dd>
        </div>
      </dl>
    </>
  );
}

/** A very short attempt keeps a bar that can be seen. What was changed for this model is named. */
function Attempt({ attempt, endMs }: { readonly attempt: AttemptRecord; readonly endMs: number }) {
  const left = (attempt.startMs / (endMs || 1)) * 100;
  const width = Math.max(0.8, (attempt.durationMs / (endMs || 1)) * 100);
  const isGood = attempt.outcome === "answered";
  const changes = [...attempt.conversions, ...attempt.droppedFields.map((field) => `dropped ${field}`)];
  return (
    <li>
      <div class="row">
        <b class="grow cut">{attempt.model}</b>
        <span class="faint">{attempt.provider}</span>
        <span class={`status ${isGood ? "good" : "bad"}`}>{attempt.status ?? attempt.outcome}</span>
        <span class="number">{duration(attempt.durationMs)}</span>
      </div>
      <div class="track" aria-hidden="true">
        <i class={isGood ? "good" : "bad"} style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }} />
      </div>
      {attempt.failure !== null && <p class="bad">{attempt.reason ?? failureText(attempt)}</p>}
      {changes.length > 0 && <p class="faint">{changes.join(", ")}</p>}
    </li>
  );
}

/** Kinds of tokens, the price of each, and its name. */
const BUCKETS = [
  ["input", "input", "Input"],
  ["cacheRead", "cacheRead", "Read from cache"],
  ["cacheWrite", "cacheWrite", "Written to cache"],
  ["output", "output", "Output"],
] as const;

/** The calculation behind the charge, line by line, so that it can be checked. */
export function Cost({ detail }: { readonly detail: RequestDetail }) {
  const { money, tokens } = detail;
  if (tokens === null || money.chargeUsd === null) {
    return (
      <Empty title="Nothing was charged">
        {money.holdUsd === null ? "No credits were reserved." : `${usd(money.holdUsd)} reserved and released.`}
      </Empty>
    );
  }
  // A model without a price of its own for cached tokens charges them as input.
  const priceOf = (name: string): number => money.price?.[name] ?? money.price?.input ?? 0;
  const provider = BUCKETS.reduce((sum, [bucket, price]) => sum + (tokens[bucket] * priceOf(price)) / 1e6, 0);
  const saved = Number(money.savedUsd) / (Number(money.baselineUsd) || 1);
  return (
    <>
      <table class="sum">
        <caption class="hidden">How the charge was computed</caption>
        <tbody>
          {BUCKETS.filter(([bucket]) => tokens[bucket] > 0).map(([bucket, price, name]) => (
            <SumRow
              key={bucket}
              name={`${name}: ${count(tokens[bucket])} tokens × $${priceOf(price)} per million`}
              value={usd((tokens[bucket] * priceOf(price)) / 1e6)}
            />
          ))}
          <SumRow name="Provider cost" value={usd(provider)} />
          <SumRow name={`Markup ${percent(money.markup)}`} value={usd(provider * (money.markup ?? 0))} />
          <SumRow name="Charged" value={usd(money.chargeUsd)} title={exact(money.chargeUsd)} isTotal />
          <SumRow name={`Baseline: the same tokens on ${money.baselineModel}`} value={usd(money.baselineUsd)} />
          <SumRow
            name={`Saved (${percent(saved)})`}
            value={usd(money.savedUsd)}
            title={exact(money.savedUsd)}
            isTotal
          />
        </tbody>
      </table>
      <p class="faint">
        {usd(money.holdUsd)} reserved during the request.
        {detail.usageEstimated && " Token counts are estimated: the provider sent none."}{" "}
        {money.ledgerId !== null && <a href={hrefTo("/credits", { entry: money.ledgerId })}>Ledger entry</a>}
      </p>
    </>
  );
}

/** One line of the calculation. */
interface SumRowProps {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
  readonly isTotal?: boolean;
}

/** Totals stand out. */
function SumRow({ name, value, title, isTotal = false }: SumRowProps) {
  return (
    <tr class={isTotal ? "total" : ""}>
      <th scope="row">{name}</th>
      <td class="number" title={title}>
        {value}
      </td>
    </tr>
  );
}

/** Shown as plain text whatever it says, because callers and models wrote it. */
export function Payload({ content }: { readonly content: ContentRecord | null }) {
  if (content === null) {
    return (
      <Empty title="Content logging is off">
        Turn on <code>logging.content</code> to see prompts and responses. <a href={hrefTo("/settings")}>Settings</a>
      </Empty>
    );
  }
  return (
    <>
      <h3>Request{content.isRequestCut && <span class="faint"> (truncated)</span>}</h3>
      <TextBlock text={content.request} label="Request" />
      <h3>Response{content.isAnswerCut && <span class="faint"> (truncated)</span>}</h3>
      <TextBlock text={content.answer} label="Response" />
    </>
  );
}
