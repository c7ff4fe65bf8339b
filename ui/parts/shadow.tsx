// Second answers of a profile: a share of its requests is also sent to another model, within a budget per day. Used by the
// editor of a profile and by Outcomes.

import { useState } from "preact/hooks";
import { call, useLoad } from "../api.ts";
import { percent, usd } from "../format.ts";
import { Button } from "../kit/button.tsx";
import { SelectField, TextField } from "../kit/field.tsx";
import { useTask } from "../kit/task.tsx";
import { showToast } from "../kit/toast.tsx";
import { isOperator } from "../session.ts";
import type { List, Model, Profile } from "../types.ts";
import * as TEXT from "./text.ts";

interface ShadowProps {
  readonly profile: Pick<Profile, "id" | "name" | "shadow">;
}

/** Operators start and stop samples. Owners read why they cannot. */
export function Shadow({ profile: { id, name, shadow } }: ShadowProps) {
  const { problem, isBusy, run } = useTask();
  const path = `/api/profiles/${id}/shadow`;
  if (shadow === null) return isOperator() ? <ShadowForm path={path} /> : <p>{TEXT.shadowByAdmins}</p>;
  const { share, model, budgetUsdPerDay } = shadow;
  const stop = (): Promise<void> => run(call("DELETE", path), () => showToast(TEXT.shadowStopped(name)));
  return (
    <>
      <p class="row">
        <span class="grow">{TEXT.shadowOf(percent(share), model, usd(budgetUsdPerDay))}</span>
        {isOperator() && (
          <Button isBusy={isBusy} onClick={stop}>
            {TEXT.stopShadow}
          </Button>
        )}
      </p>
      {problem}
    </>
  );
}

/** Suggests the most expensive model, since it is the one that cheaper answers are measured by. */
function ShadowForm({ path }: { readonly path: string }) {
  const models = (useLoad<List<Model>>("/api/models").data?.data ?? []).filter((each) => each.isRoutable && each.tier);
  const priceOf = ({ pricing }: Model): number => Number(pricing.completion);
  const best = models.reduce<Model | null>((top, each) => (top && priceOf(top) >= priceOf(each) ? top : each), null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [share, setShare] = useState("5");
  const [budgetUsdPerDay, setBudget] = useState("2");
  const { problem, isBusy, run } = useTask();
  const model = chosen ?? best?.id ?? "";
  const start = (event: Event): void => {
    event.preventDefault();
    const body = { model, share: Number(share) / 100, budgetUsdPerDay };
    void run(call("PUT", path, { body }), () => showToast(TEXT.shadowStarted));
  };
  const options = models.map(({ id }) => ({ value: id, label: id }));
  return (
    <form onSubmit={start}>
      <p class="hint">{TEXT.shadowHint}</p>
      <SelectField label={TEXT.shadowModel} value={model} options={options} onChange={setChosen} />
      <div class="pair">
        <TextField label={TEXT.shadowShare} value={share} onInput={setShare} {...number("0.1", "100")} />
        <TextField label={TEXT.shadowBudget} value={budgetUsdPerDay} onInput={setBudget} {...number("0.01")} />
      </div>
      {problem}
      <Button type="submit" isBusy={isBusy} isDisabled={model === ""}>
        {TEXT.startShadow}
      </Button>
    </form>
  );
}

function number(min: string, max?: string) {
  return { type: "number", min, step: "any", isRequired: true, ...(max === undefined ? {} : { max }) } as const;
}
