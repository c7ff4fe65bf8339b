// The dialog that sets, changes and deletes a budget.

import { useState } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { Budget, List, ListedKey } from "../../types.ts";
import * as TEXT from "./text.ts";

interface BudgetEditorProps {
  /** The budget to change; null for a new one. */
  readonly saved: Budget | null;
  readonly onClose: () => void;
}

const optionsOf = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, label]) => ({ value, label }));
const SCOPES = optionsOf(TEXT.scopes);
const PERIODS = optionsOf(TEXT.periods);
/** Marks rolling periods in the list. */
const ROLLING = "rolling-";
const ENDS = [
  { value: "hard", label: TEXT.refuse },
  { value: "soft", label: TEXT.warn },
];

/** Fields as the form has them: one word for period and rolling, and an empty value for each. */
interface BudgetDraft {
  readonly name: string;
  readonly scope: string;
  readonly value: string;
  readonly amountUsd: string;
  readonly per: string;
  readonly timeZone: string;
  readonly end: string;
}

function draftOf(saved: Budget | null): BudgetDraft {
  if (saved === null) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    return { name: "", scope: "account", value: "", amountUsd: "", per: "month", timeZone, end: "hard" };
  }
  const { name, scope, amountUsd, timeZone, period, rolling, hard } = saved;
  const per = rolling ? `${ROLLING}${period}` : period;
  return { name, scope, value: saved.value ?? "", amountUsd, per, timeZone, end: hard ? "hard" : "soft" };
}

function bodyOf({ name, scope, value, amountUsd, per, timeZone, end }: BudgetDraft): object {
  return {
    ...{ name, scope, amountUsd: amountUsd.trim(), timeZone: timeZone.trim() },
    value: scope === "account" ? null : value.trim() || null,
    period: per.replace(ROLLING, ""),
    rolling: per.startsWith(ROLLING),
    hard: end === "hard",
  };
}

export function BudgetEditor({ saved, onClose }: BudgetEditorProps) {
  const [draft, setDraft] = useState(() => draftOf(saved));
  const { problem, isBusy, run } = useTask();
  const set = (change: Partial<BudgetDraft>): void => setDraft({ ...draft, ...change });
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = bodyOf(draft);
    const work =
      saved === null ? call("POST", "/api/budgets", { body }) : call("PUT", `/api/budgets/${saved.id}`, { body });
    void run(work, () => {
      showToast(TEXT.saved(draft.name));
      onClose();
    });
  };
  const isRolling = draft.per.startsWith(ROLLING);
  return (
    <Dialog title={saved === null ? TEXT.setBudget : TEXT.editBudget} onClose={onClose}>
      <form onSubmit={submit}>
        <TextField label={TEXT.name} value={draft.name} onInput={(name) => set({ name })} isRequired isFocused />
        <SelectField
          label={TEXT.appliesTo}
          value={draft.scope}
          options={SCOPES}
          onChange={(scope) => set({ scope, value: "" })}
        />
        <ValueField draft={draft} onChange={(value) => set({ value })} />
        <TextField
          label={TEXT.amountUsd}
          value={draft.amountUsd}
          onInput={(amountUsd) => set({ amountUsd })}
          isRequired
        />
        <SelectField label={TEXT.per} value={draft.per} options={PERIODS} onChange={(per) => set({ per })} />
        {!isRolling && (
          <TextField
            label={TEXT.timeZone}
            hint={TEXT.timeZoneHint}
            value={draft.timeZone}
            onInput={(timeZone) => set({ timeZone })}
            isRequired
          />
        )}
        <SelectField label={TEXT.whenSpent} value={draft.end} options={ENDS} onChange={(end) => set({ end })} />
        {problem}
        <footer>
          {saved !== null && <Removal budget={saved} onDone={onClose} />}
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Keys and tiers are chosen, since nobody knows ids by heart. The rest is typed. */
function ValueField({ draft, onChange }: { readonly draft: BudgetDraft; readonly onChange: (value: string) => void }) {
  const { scope, value } = draft;
  const keys = useLoad<List<ListedKey>>(scope === "key" ? "/api/keys?limit=500&status=active" : null).data?.data ?? [];
  if (scope === "account") return null;
  if (scope === "key" || scope === "tier") {
    const choices =
      scope === "key"
        ? [{ value: "", label: TEXT.eachKey }, ...keys.map(({ id, name }) => ({ value: id, label: name }))]
        : [{ value: "", label: TEXT.eachTier }, ...TIERS.map((tier) => ({ value: tier, label: tier }))];
    return <SelectField label={TEXT.scopes[scope] ?? TEXT.value} value={value} options={choices} onChange={onChange} />;
  }
  const hint = TEXT.valueHints[scope] ?? "";
  return <TextField label={TEXT.scopes[scope] ?? TEXT.value} hint={hint} value={value} onInput={onChange} />;
}

/** Asks once more by its own label. */
function Removal({ budget, onDone }: { readonly budget: Budget; readonly onDone: () => void }) {
  const [isAsked, setAsked] = useState(false);
  const { problem, isBusy, run } = useTask();
  const remove = (): Promise<void> =>
    run(call("DELETE", `/api/budgets/${budget.id}`), () => {
      showToast(TEXT.removed(budget.name));
      onDone();
    });
  return (
    <>
      {problem}
      <Button kind={isAsked ? "danger" : "plain"} isBusy={isBusy} onClick={isAsked ? remove : () => setAsked(true)}>
        {isAsked ? TEXT.removeNow : TEXT.remove}
      </Button>
    </>
  );
}
