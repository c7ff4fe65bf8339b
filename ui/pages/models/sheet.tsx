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
import { TierBadge } from "../../kit/tier.tsx";
import { useProviderTest } from "../../parts/provider-test.tsx";
import { hrefTo, hrefWith } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { Model, SeenToolCalls } from "../../types.ts";
import { describeHealth, errorRate, Health, perMillion, type SeenModel } from "./facts.tsx";
import { seenText } from "./words.ts";

/** The model, and all others for the chains that it is part of. */
interface ModelSheetProps {
  readonly model: SeenModel;
  readonly all: readonly SeenModel[];
  readonly onClose: () => void;
}

/** Escape closes it. Testing a provider is for operators, since it is a real call. */
export function ModelSheet({ model, all, onClose }: ModelSheetProps) {
  useShortcuts({ Escape: onClose });
  // The button is in the footer, its outcome at the top of the sheet.
  const test = useProviderTest(model.provider, model.id);
  return (
    <Sheet
      label={`Model ${model.id}`}
      onClose={onClose}
      header={
        <>
          <h2 class="row">
            <code class="cut">{model.id}</code>
            <CopyButton text={model.id} />
          </h2>
          <p class="row faint">
            <Health model={model} /> {model.name} by {model.owned_by}, served by {model.provider}
          </p>
        </>
      }
      footer={
        <>
          <ButtonLink href={hrefTo("/requests", { model: model.id })}>View requests</ButtonLink>
          {isOperator() && model.isRoutable && test.button}
        </>
      }
    >
      {test.outcome}
      <Facts model={model} />
      <h3>Fallback chains</h3>
      <Standing model={model} all={all} />
      <h3>Function calling (BFCL)</h3>
      <Scores model={model} />
      <h3>Call this model directly</h3>
      <Snippets label="Direct call" call={{ key: null, body: directBody(model.id) }} />
    </Sheet>
  );
}

/** Without this profile the name of a model is ignored and the request is routed. */
function directBody(model: string): Readonly<Record<string, unknown>> {
  return { model, service_profile: "direct", messages: [{ role: "user", content: "Hello" }] };
}

/** Where numbers come from is part of the fact. */
function Facts({ model }: { readonly model: SeenModel }) {
  const { priceAsOf } = model.service;
  const facts: readonly (readonly [string, string])[] = [
    ["Health", describeHealth(model.health)],
    ["Input", `${usd(perMillion(model.pricing.prompt))} per 1M tokens`],
    ["Output", `${usd(perMillion(model.pricing.completion))} per 1M tokens`],
    ["Price as of", `${priceAsOf}, ${model.priceSource}`],
    ["Context", `${count(model.context_length)} tokens, ${count(model.max_output_tokens)} out`],
    ["Capabilities", model.capabilities.join(", ") || "Text only"],
    ["Traffic, 24 h", `${percent(model.share)}, ${plural(model.usage?.requests ?? 0, "request")}`],
    ["Errors, 24 h", `${count(model.usage?.errors ?? 0)}, ${errorRate(model)}`],
    [
      "TTFT, 24 h",
      `p50 ${duration(model.usage?.firstContent.p50Ms)}, p95 ${duration(model.usage?.firstContent.p95Ms)}`,
    ],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The chain of each tier, with those that are asked before and after it. */
function Standing({ model, all }: { readonly model: Model; readonly all: readonly Model[] }) {
  if (model.chains.length === 0) return <p class="faint">Not in any fallback chain. Call it directly.</p>;
  return (
    <>
      <ul class="standing">
        {model.chains.map(({ tier, place, of }) => (
          <li key={tier}>
            <TierBadge tier={tier} /> <b>{`#${place} of ${of}`}</b>
            <ol aria-label={`${tier} chain`}>
              {chainOf(tier, all).map(({ id }) => (
                <li key={id}>
                  {id === model.id ? <b aria-current="true">{id}</b> : <a href={hrefWith({ model: id })}>{id}</a>}
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ul>
      <p class="small faint">
        As configured. With tools, BFCL scores set the order. Models that are cooling down are tried last.
      </p>
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
      {toolCalls.length > 0 && (
        <p class="small faint">
          From this account's tool calls. A call is valid when it parses, names an offered tool and has the required
          arguments. Invalid calls lower a score by at most a quarter, and old calls count less.
        </p>
      )}
    </>
  );
}

/** Also said where calls were seen, since there is no score to lower. */
const UNMEASURED = "No BFCL score. Excluded when a minimum is set.";

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
