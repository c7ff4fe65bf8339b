// One model: where its numbers come from, where it stands in each tier's chain, how well it calls tools, and how to ask
// for it by name.

import { count, duration, percent, usd } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { CopyButton } from "../../kit/copy.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Snippets } from "../../kit/snippets.tsx";
import { useProviderTest } from "../../parts/provider-test.tsx";
import { hrefTo } from "../../router.ts";
import { isOperator } from "../../session.ts";
import { errorRate, Health, healthStory, perMillion, type SeenModel } from "./facts.tsx";
import { Scores } from "./scores.tsx";
import { Standing } from "./standing.tsx";

export function ModelSheet({
  model,
  all,
  onClose,
}: {
  readonly model: SeenModel;
  readonly all: readonly SeenModel[];
  readonly onClose: () => void;
}) {
  useShortcuts({ Escape: onClose });
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
          <ButtonLink href={hrefTo("/requests", { model: model.id })}>Its requests</ButtonLink>
          {isOperator() && model.isRoutable && test.button}
        </>
      }
    >
      {test.outcome}
      <Facts model={model} />
      <h3>Place in the chains</h3>
      <Standing model={model} all={all} />
      <h3>Function calling</h3>
      <Scores model={model} />
      <h3>Ask for it by name</h3>
      <Snippets label="Direct call" call={{ key: null, body: directBody(model.id) }} />
    </Sheet>
  );
}

/** Without the profile a model's name is ignored and the request is routed. */
function directBody(model: string): Readonly<Record<string, unknown>> {
  return { model, service_profile: "direct", messages: [{ role: "user", content: "Hello" }] };
}

function Facts({ model }: { readonly model: SeenModel }) {
  const { priceAsOf } = model.service;
  const facts: readonly (readonly [string, string])[] = [
    ["Health", healthStory(model.health)],
    ["Input", `${usd(perMillion(model.pricing.prompt))} per million tokens`],
    ["Output", `${usd(perMillion(model.pricing.completion))} per million tokens`],
    ["Price as of", `${priceAsOf}, ${model.priceSource}`],
    ["Context", `${count(model.context_length)} tokens, ${count(model.max_output_tokens)} out`],
    ["Can", model.capabilities.join(", ") || "text only"],
    ["Traffic, 24 h", `${percent(model.share)}, ${count(model.usage?.requests ?? 0)} requests`],
    ["Errors, 24 h", `${count(model.usage?.errors ?? 0)}, ${errorRate(model)}`],
    [
      "First token, 24 h",
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
