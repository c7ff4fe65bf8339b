// The dialog that sets, changes and deletes a budget.

import { useState } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { DeleteButton, useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { shownAccount } from "../../session.ts";
import type { Budget, List } from "../../types.ts";
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
  /** Limits per minute; empty for none. */
  readonly requests: string;
  readonly tokens: string;
}

function draftOf(saved: Budget | null): BudgetDraft {
  if (saved === null) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    return {
      name: "",
      scope: "account",
      value: "",
      amountUsd: "",
      per: "month",
      timeZone,
      end: "hard",
      requests: "",
      tokens: "",
    };
  }
  const { name, scope, amountUsd, timeZone, period, rolling, hard } = saved;
  const per = rolling ? `${ROLLING}${period}` : period;
  const [requests, tokens] = [String(saved.requestsPerMinute ?? ""), String(saved.tokensPerMinute ?? "")];
  const end = hard ? "hard" : "soft";
  return { name, scope, value: saved.value ?? "", amountUsd, per, timeZone, end, requests, tokens };
}

function bodyOf({ name, scope, value, amountUsd, per, timeZone, end, requests, tokens }: BudgetDraft): object {
  return {
    requestsPerMinute: Number(requests) || null,
    tokensPerMinute: Number(tokens) || null,
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
  const done = (notice: string): void => {
    showToast(notice);
    onClose();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = bodyOf(draft);
    const work =
      saved === null ? call("POST", "/api/budgets", { body }) : call("PUT", `/api/budgets/${saved.id}`, { body });
    void run(work, () => done(TEXT.saved(draft.name)));
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
        <RateFields draft={draft} set={set} />
        {problem}
        <footer>
          {saved !== null && (
            <DeleteButton path={`/api/budgets/${saved.id}`} onDone={() => done(TEXT.removed(saved.name))} />
          )}
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Limits per minute, which hold for each value where each has the amount for itself. */
function RateFields({
  draft,
  set,
}: {
  readonly draft: BudgetDraft;
  readonly set: (change: Partial<BudgetDraft>) => void;
}) {
  return (
    <div class="pair">
      <TextField
        label={TEXT.requestsPerMinute}
        type="number"
        min="1"
        value={draft.requests}
        onInput={(requests) => set({ requests })}
        placeholder={TEXT.noLimit}
      />
      <TextField
        label={TEXT.tokensPerMinute}
        type="number"
        min="1"
        value={draft.tokens}
        onInput={(tokens) => set({ tokens })}
        placeholder={TEXT.noLimit}
      />
    </div>
  );
}

/** Things with ids that nobody knows by heart are chosen: where to list them. */
const CHOSEN: Readonly<Record<string, string>> = {
  team: "/api/teams?limit=500",
  member: "/api/users?limit=500",
  key: "/api/keys?limit=500&status=active",
};

interface Chosen {
  readonly id: string;
  readonly name?: string;
  /** Users have these. Operators see those of all accounts. */
  readonly email?: string;
  readonly accountId?: string;
}

/** The value of a tag, end user or model is typed. */
function ValueField({ draft, onChange }: { readonly draft: BudgetDraft; readonly onChange: (value: string) => void }) {
  const { scope, value } = draft;
  const listed = useLoad<List<Chosen>>(CHOSEN[scope] ?? null).data?.data ?? [];
  const each = TEXT.eachOf[scope];
  if (scope === "account") return null;
  if (each !== undefined) {
    const choices = scope === "tier" ? TIERS.map((tier) => ({ value: tier, label: tier })) : choicesOf(listed);
    const options = [{ value: "", label: each }, ...choices];
    return <SelectField label={TEXT.scopes[scope] ?? TEXT.value} value={value} options={options} onChange={onChange} />;
  }
  const hint = TEXT.valueHints[scope] ?? "";
  return <TextField label={TEXT.scopes[scope] ?? TEXT.value} hint={hint} value={value} onInput={onChange} />;
}

function choicesOf(listed: readonly Chosen[]): readonly { readonly value: string; readonly label: string }[] {
  const own = shownAccount();
  const ours = listed.filter(({ accountId = own }) => accountId === own);
  return ours.map(({ id, name, email }) => ({ value: id, label: name ?? email ?? id }));
}
