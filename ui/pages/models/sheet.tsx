// One model: its prices and limits, its place in each tier's chain, how well it calls tools, and how to ask for it by
// name.

import type { ComponentChildren } from "preact";
import { TOOL_SCENARIOS } from "../../../src/core/model.ts";
import { count, duration, percent, plural, score, usd } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { CopyButton } from "../../kit/copy.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Snippets } from "../../kit/snippets.tsx";
import { Facts, Table } from "../../kit/table.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { useProviderTest } from "../../parts/provider-test.tsx";
import { hrefTo, hrefWith } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { Model, SeenToolCalls } from "../../types.ts";
import { describeHealth, errorRate, Health, perMillion, type SeenModel } from "./facts.tsx";
import * as TEXT from "./text.ts";
import { seenText, timesText } from "./words.ts";

/** The model, and all others for the chains that it is part of. */
interface ModelSheetProps {
  readonly model: SeenModel;
  readonly all: readonly SeenModel[];
  readonly onClose: () => void;
}

/** Shows one model; Escape closes the sheet. Only operators may test a provider, since a test is a real call. */
export function ModelSheet({ model, all, onClose }: ModelSheetProps) {
  useShortcuts({ Escape: onClose });
  // The button is in the footer, its outcome at the top of the sheet.
  const test = useProviderTest(model.provider, model.id);
  return (
    <Sheet
      label={TEXT.modelNamed(model.id)}
      onClose={onClose}
      header={
        <>
          <h2 class="row">
            <code class="cut">{model.id}</code>
            <CopyButton text={model.id} />
          </h2>
          <p class="row faint">
            {model.service.provisional && <span title={TEXT.provisionalHint}>{TEXT.provisional} · </span>}
            <Health model={model} /> {TEXT.servedBy(model.name, model.owned_by, model.provider)}
          </p>
        </>
      }
      footer={
        <>
          <ButtonLink href={hrefTo("/requests", { model: model.id })}>{TEXT.viewRequests}</ButtonLink>
          {isOperator() && model.isRoutable && model.tier !== null && test.button}
        </>
      }
    >
      {test.outcome}
      <ModelFacts model={model} />
      <h3>{TEXT.hosts}</h3>
      <Hosts model={model} />
      {model.tier === null ? (
        <p class="faint">{TEXT.servesOnly(model.capabilities.join(", "))}</p>
      ) : (
        <ChatFacts model={model} all={all} />
      )}
    </Sheet>
  );
}

/** Facts that only chat models have. */
function ChatFacts({ model, all }: Pick<ModelSheetProps, "model" | "all">) {
  return (
    <>
      <h3>{TEXT.fallbackChains}</h3>
      <Standing model={model} all={all} />
      <h3>{TEXT.functionCalling}</h3>
      <Scores model={model} />
      <h3>{TEXT.callDirectly}</h3>
      <Snippets label={TEXT.directCall} call={{ key: null, body: directBody(model.id) }} />
    </>
  );
}

/** Body of a call to this very model. Without the profile `direct`, the gateway would route the request. */
function directBody(model: string): Readonly<Record<string, unknown>> {
  return { model, service_profile: "direct", messages: [{ role: "user", content: TEXT.exampleHello }] };
}

function pair(rates: { readonly prompt: string | null; readonly completion: string | null }): string {
  return `${usd(perMillion(rates.prompt))} / ${usd(perMillion(rates.completion))}`;
}

/** Lists the facts of a model; the price comes with date and source. */
function ModelFacts({ model }: { readonly model: SeenModel }) {
  const { priceAsOf } = model.service;
  const { bands = [], next } = model.pricing;
  const facts: readonly (readonly [string, string])[] = [
    [TEXT.health, describeHealth(model.health)],
    [TEXT.input, TEXT.per1mTokens(usd(perMillion(model.pricing.prompt)))],
    [TEXT.output, TEXT.per1mTokens(usd(perMillion(model.pricing.completion)))],
    ...bands.map((band) => [TEXT.longPrompts(count(band.above_prompt_tokens)), TEXT.per1mTokens(pair(band))] as const),
    ...(next === undefined ? [] : [[TEXT.priceFrom(next.from.slice(0, 10)), TEXT.per1mTokens(pair(next))] as const]),
    [TEXT.priceAsOf, `${priceAsOf}, ${model.priceSource}`],
    [TEXT.context, TEXT.contextAndOutput(count(model.context_length), count(model.max_output_tokens))],
    [TEXT.capabilities, model.capabilities.join(", ") || TEXT.textOnly],
    [TEXT.trafficOfDay, `${percent(model.share)}, ${plural(model.usage?.requests ?? 0, "request")}`],
    [TEXT.errorsOfDay, `${count(model.usage?.errors ?? 0)}, ${errorRate(model)}`],
    ["TTFT, 24 h", timesText(model.usage)],
  ];
  return <Facts facts={facts} />;
}

/** Lists the hosts of a model with the speed that this process measured. Hosts that can be called come first. */
function Hosts({ model: { hosts } }: { readonly model: Model }) {
  return (
    <Table class="compact" caption={TEXT.hosts} heads={[TEXT.host, TEXT.priceInOut, TEXT.health, TEXT.speed]}>
      {hosts.map((host) => (
        <tr key={host.host}>
          <th scope="row">
            {host.provider} <small class="faint">{[host.upstream, host.region].filter(Boolean).join(", ")}</small>
          </th>
          <td title={`${host.priceAsOf}, ${host.priceSource}`}>
            {usd(perMillion(host.pricing.prompt))} / {usd(perMillion(host.pricing.completion))}
          </td>
          <td>
            <Health model={host} />
          </td>
          <td>
            {duration(host.firstTokenMs)}
            {host.tokensPerSecond !== null && `, ${TEXT.perSecond(host.tokensPerSecond)}`}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The chain of each tier, with those that are asked before and after it. */
function Standing({ model, all }: { readonly model: Model; readonly all: readonly Model[] }) {
  if (model.chains.length === 0) return <p class="faint">{TEXT.inNoChain}</p>;
  return (
    <>
      <ul class="standing">
        {model.chains.map(({ tier, place, of }) => (
          <li key={tier}>
            <TierBadge tier={tier} /> <b>{TEXT.placeOf(place, of)}</b>
            <ol aria-label={TEXT.chainOf(tier)}>
              {chainOf(tier, all).map(({ id }) => (
                <li key={id}>
                  {id === model.id ? <b aria-current="true">{id}</b> : <a href={hrefWith({ model: id })}>{id}</a>}
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ul>
      <p class="small faint">{TEXT.chainHint}</p>
    </>
  );
}

/** The models of a tier in the order of asking. */
function chainOf(tier: string, all: readonly Model[]): readonly Model[] {
  const placeOf = ({ chains }: Model): number => chains.find((place) => place.tier === tier)?.place ?? 0;
  return all.filter((model) => placeOf(model) > 0).sort((a, b) => placeOf(a) - placeOf(b));
}

/** The benchmark's score per scenario, what was seen of the model's calls, and what that takes off. */
function Scores({ model }: { readonly model: Model }) {
  const { toolCalls, service } = model;
  if (service.bfcl === null && toolCalls.length === 0) return <p class="faint">{UNMEASURED}</p>;
  const scores = service.bfcl;
  return (
    <>
      {scores === null && <p class="faint">{UNMEASURED}</p>}
      <dl class="scores">
        {scores !== null && <ScoreRow name="overall" value={scores.overall} />}
        {TOOL_SCENARIOS.map((scenario) => {
          const seen = toolCalls.find((each) => each.scenario === scenario);
          if (scores === null && seen === undefined) return null;
          return (
            <ScoreRow key={scenario} name={scenario.replaceAll("_", " ")} value={scores?.[scenario]} seen={seen}>
              {seen !== undefined && <p class="seen small faint">{seenText(seen)}</p>}
            </ScoreRow>
          );
        })}
      </dl>
      {toolCalls.length > 0 && <p class="small faint">{TEXT.validityHint}</p>}
    </>
  );
}

/** Text for a model without a score, also where calls were seen, since there is no score to lower. */
const UNMEASURED = TEXT.noScore;

/** One scenario. */
interface ScoreRowProps {
  readonly name: string;
  readonly value: number | undefined;
  readonly seen?: SeenToolCalls | undefined;
  readonly children?: ComponentChildren;
}

/** The bar is the score in use; what observed calls took off is drawn behind it. */
function ScoreRow({ name, value, seen, children }: ScoreRowProps) {
  const now = seen?.blendedScore ?? value;
  // Without observed calls both are the same.
  const was = seen?.staticScore ?? value ?? 0;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="ranked-track" aria-hidden="true">
          <i style={{ width: `${now ?? 0}%` }} />
          {now !== undefined && now < was && <i class="lost" style={{ width: `${was - now}%` }} />}
        </span>
        {score(now)}
        {children}
      </dd>
    </div>
  );
}
