// How well a model calls tools: the benchmark's score for each scenario, what was seen of its calls, and what that takes
// off the score it is ranked by.

import type { ComponentChildren } from "preact";
import { TOOL_SCENARIOS } from "../../../src/core/model.ts";
import { score } from "../../format.ts";
import type { Model, SeenToolCalls } from "../../types.ts";
import { seenText } from "./words.ts";

export function Scores({ model }: { readonly model: Model }) {
  const { toolCalls, service } = model;
  if (service.bfcl === null && toolCalls.length === 0) return <p class="faint">{UNMEASURED}</p>;
  const scores = service.bfcl;
  return (
    <>
      {scores === null && <p class="faint">{UNMEASURED}</p>}
      <dl class="scores">
        {scores !== null && <Row name="overall" value={scores.overall} />}
        {TOOL_SCENARIOS.map((scenario) => {
          const seen = toolCalls.find((each) => each.scenario === scenario);
          if (scores === null && seen === undefined) return null;
          return (
            <Row key={scenario} name={scenario.replaceAll("_", " ")} value={scores?.[scenario]} seen={seen}>
              {seen !== undefined && <p class="seen small faint">{seenText(seen)}</p>}
            </Row>
          );
        })}
      </dl>
      {toolCalls.length > 0 && (
        <p class="small faint">
          Calls seen with this account's tools; a call can be used when it parses, names a tool that was offered and has
          what the tool requires. At most a quarter of a score is lost; old calls fade.
        </p>
      )}
    </>
  );
}

const UNMEASURED = "Never measured; it is not used where a score is asked for.";

function Row({
  name,
  value,
  seen,
  children,
}: {
  readonly name: string;
  readonly value: number | undefined;
  readonly seen?: SeenToolCalls | undefined;
  readonly children?: ComponentChildren;
}) {
  const now = seen?.blendedScore ?? value;
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
