// The tabs of one request: attempts as a waterfall, the sum behind the charge, and the payload where that is kept.

import type { AttemptRecord } from "../../../src/core/requests/records.ts";
import { count, duration, exact, percent, usd } from "../../format.ts";
import { TextBlock } from "../../kit/copy.tsx";
import { Empty } from "../../kit/states.tsx";
import { Facts } from "../../kit/table.tsx";
import { ContentSwitch } from "../../parts/configuration/options.tsx";
import { failureText } from "../../parts/failure-text.ts";
import { baselineNamed } from "../../parts/text.ts";
import { hrefTo } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { RequestDetail } from "../../types.ts";
import { CascadeAnswers } from "./cascade.tsx";
import { savedShare } from "./facts.tsx";
import * as TEXT from "./text.ts";

/** One bar per attempt on the time of the whole request, and how much of it was the gateway's own. */
export function Attempts({ detail }: { readonly detail: RequestDetail }) {
  if (detail.attempts.length === 0) return <Empty title={TEXT.noProviderCalled} />;
  const endMs = Math.max(detail.latencyMs, ...detail.attempts.map(({ startMs, durationMs }) => startMs + durationMs));
  return (
    <>
      <ol class="waterfall">
        {detail.attempts.map((attempt, index) => (
          <Attempt key={`${attempt.model}-${attempt.startMs}-${index}`} attempt={attempt} endMs={endMs} />
        ))}
      </ol>
      <CascadeAnswers cascade={detail.cascade} />
      <Facts
        facts={[
          [TEXT.firstToken, duration(detail.firstContentMs)],
          [TEXT.total, duration(detail.latencyMs)],
          [TEXT.gatewayOverhead, duration(detail.overheadMs)],
        ]}
      />
    </>
  );
}

/** A very short attempt keeps a bar that can be seen. What was changed for this model is named. */
function Attempt({ attempt, endMs }: { readonly attempt: AttemptRecord; readonly endMs: number }) {
  const left = (attempt.startMs / (endMs || 1)) * 100;
  const width = Math.max(0.8, (attempt.durationMs / (endMs || 1)) * 100);
  const isGood = attempt.outcome === "answered";
  const changes = [...attempt.conversions, ...attempt.droppedFields.map((field) => TEXT.dropped(field))];
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
  ["input", "input", TEXT.input],
  ["cacheRead", "cacheRead", TEXT.readFromCache],
  ["cacheWrite", "cacheWrite", TEXT.writtenToCache],
  ["output", "output", TEXT.output],
] as const;

/** The calculation behind the charge, line by line, so that it can be checked. */
export function Cost({ detail }: { readonly detail: RequestDetail }) {
  const { money, tokens } = detail;
  if (tokens === null || money.chargeUsd === null) {
    return (
      <Empty title={TEXT.notCharged}>
        {money.holdUsd === null ? TEXT.notReserved : TEXT.reservedAndReleased(usd(money.holdUsd))}
      </Empty>
    );
  }
  // A model without a price of its own for cached tokens charges them as input.
  const priceOf = (name: string): number => money.price?.[name] ?? money.price?.input ?? 0;
  const rows = BUCKETS.map(([bucket, price, name]) => {
    const own = money.lines.filter((line) => line.bucket === bucket);
    const tokensLeft = own.reduce((left, line) => left - line.count, tokens[bucket]);
    return { bucket, name, price: priceOf(price), count: tokensLeft };
  });
  const provider =
    rows.reduce((sum, row) => sum + (row.count * row.price) / 1e6, 0) +
    money.lines.reduce((sum, line) => sum + line.usd, 0);
  return (
    <>
      <table class="sum">
        <caption class="hidden">{TEXT.chargeCaption}</caption>
        <tbody>
          {rows
            .filter((row) => row.count > 0)
            .map((row) => (
              <SumRow
                key={row.bucket}
                name={TEXT.bucketPrice(row.name, count(row.count), row.price)}
                value={usd((row.count * row.price) / 1e6)}
              />
            ))}
          {money.lines.map((line) => (
            <SumRow key={line.unit} name={TEXT.unitCount(line.unit, count(line.count))} value={usd(line.usd)} />
          ))}
          <SumRow name={TEXT.providerCost} value={usd(provider)} />
          <SumRow name={TEXT.markupOf(percent(money.markup))} value={usd(provider * (money.markup ?? 0))} />
          <EarlierAnswers detail={detail} />
          <SumRow name={TEXT.chargedTotal} value={usd(money.chargeUsd)} title={exact(money.chargeUsd)} isTotal />
          <SumRow name={baselineRow(money)} value={usd(money.baselineUsd)} />
          {money.savedUsd !== null && (
            <SumRow
              name={TEXT.savedShare(percent(savedShare(money)))}
              value={usd(money.savedUsd)}
              title={exact(money.savedUsd)}
              isTotal
            />
          )}
        </tbody>
      </table>
      <p class="faint">
        {TEXT.reservedDuring(usd(money.holdUsd))}
        {detail.usageEstimated && ` ${TEXT.tokensEstimated}`}{" "}
        {money.ledgerId !== null && <a href={hrefTo("/credits", { entry: money.ledgerId })}>{TEXT.ledgerEntry}</a>}
      </p>
    </>
  );
}

function baselineRow({ baselineModel, baselinePrice }: RequestDetail["money"]): string {
  return TEXT.baselineOn(baselineNamed(baselineModel ?? "", baselinePrice));
}

/** Answers of a cascade that failed their check, and are charged beside the one that the tokens above are of. */
function EarlierAnswers({ detail: { cascade, money } }: { readonly detail: RequestDetail }) {
  const earlier = (cascade ?? []).filter(({ ledgerId }) => ledgerId !== money.ledgerId);
  return (
    <>
      {earlier.map(({ model, chargeUsd, ledgerId }) => (
        <SumRow key={ledgerId} name={TEXT.earlierAnswer(model)} value={usd(chargeUsd)} title={exact(chargeUsd)} />
      ))}
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

/** Shows content as plain text, because callers and models wrote it. Both answers of a sample stand side by side. */
export function Payload({ detail: { content, sample } }: { readonly detail: RequestDetail }) {
  if (content === null) {
    return <Empty title={TEXT.contentOff}>{isOperator() ? <ContentSwitch /> : TEXT.askForContent}</Empty>;
  }
  return (
    <>
      <Said title={TEXT.request} text={content.request} isCut={content.isRequestCut} />
      <div class="pair">
        <Said title={TEXT.response} text={content.answer} isCut={content.isAnswerCut} />
        {sample?.answer && <Said title={TEXT.secondOf(sample.model)} text={sample.answer} />}
      </div>
    </>
  );
}

interface SaidProps {
  readonly title: string;
  readonly text: string;
  readonly isCut?: boolean;
}

function Said({ title, text, isCut }: SaidProps) {
  return (
    <div>
      <h3>
        {title}
        {isCut && <span class="faint"> {TEXT.truncated}</span>}
      </h3>
      <TextBlock text={text} label={title} />
    </div>
  );
}
