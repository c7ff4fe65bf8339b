// The form of a key: what it may do. Used for a new key and for one that is changed.

import { useLoad } from "../../api.ts";
import { type Option, SelectField, TextField } from "../../kit/field.tsx";
import { useGroupNames } from "../../parts/people/group-names.ts";
import { chipsOf } from "../../parts/profile-rules.ts";
import { may, session } from "../../session.ts";
import type { List, Profile } from "../../types.ts";
import * as TEXT from "./text.ts";

/** The form as typed. */
export interface KeyDraft {
  readonly name: string;
  readonly profile: string;
  readonly team: string;
  /** Empty for a service. */
  readonly member: string;
  /** Days from now; empty for never, KEEP for what it has, ON_DATE for the end of `date`. */
  readonly days: string;
  readonly date: string;
  readonly perMinute: string;
  readonly limit: string;
  /** Interval after which spending counts from zero again. */
  readonly reset: string;
}

/** A new key, without any limit. */
export const EMPTY_KEY: KeyDraft = {
  name: "",
  profile: "",
  team: "",
  member: "",
  days: "",
  date: "",
  perMinute: "",
  limit: "",
  reset: "never",
};
/** Value of `days` that keeps the expiry of the key. */
export const KEEP = "keep";
/** Value of `days` for the end of the day in `date`. */
const ON_DATE = "date";
/** Choices for the lifetime of a key. */
export const EXPIRIES: readonly Option[] = [
  { value: "", label: TEXT.never },
  { value: "30", label: TEXT.in30Days },
  { value: "90", label: TEXT.in90Days },
  { value: "365", label: TEXT.in1Year },
  { value: ON_DATE, label: TEXT.onADate },
];
/** Choices for the reset of spending, with the names that the API has for them. */
const RESETS: readonly Option[] = [
  { value: "never", label: TEXT.never },
  { value: "daily", label: TEXT.daily },
  { value: "weekly", label: TEXT.weeklyMonday },
  { value: "monthly", label: TEXT.monthly1st },
];
const DAY_MS = 86_400_000;

/**
 * The form as the API wants it. Without a limit there is nothing to reset. Members limit a new key, and change only the name
 * and the team of one that is there.
 */
export function keyBody(draft: KeyDraft, isNew = false): object {
  const { name, profile, team, member, days, perMinute, limit, reset } = draft;
  const own = { name: name.trim(), ...(team === "" && !may("manage") ? {} : { team: team || null }) };
  if (!isNew && !may("manage")) return own;
  return {
    ...own,
    ...(may("manage") ? { profile: profile || null, member: member || null } : {}),
    requestsPerMinute: perMinute === "" ? null : Number(perMinute),
    spendLimitUsd: limit.trim() === "" ? null : limit.trim(),
    spendReset: limit.trim() === "" ? "never" : reset,
    ...(days === KEEP ? {} : { expiresAt: endOf(draft) }),
  };
}

/** A day ends at midnight UTC. */
function endOf({ days, date }: KeyDraft): string | null {
  if (days === ON_DATE) return `${date}T23:59:59.999Z`;
  return days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

/** The expiries differ: only an existing key can keep one. */
interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly expiries: readonly Option[];
  readonly isNew?: boolean;
}

/** Fields that depend on another one appear with it. */
export function KeyFields({ draft, onChange, expiries, isNew = false }: KeyFieldsProps) {
  const set = (field: keyof KeyDraft) => (value: string) => onChange({ ...draft, [field]: value });
  return (
    <>
      <TextField
        label={TEXT.name}
        value={draft.name}
        onInput={set("name")}
        placeholder={TEXT.exampleName}
        isRequired
        isFocused
      />
      <GroupFields draft={draft} set={set} />
      {(isNew || may("manage")) && <LimitFields draft={draft} set={set} expiries={expiries} />}
    </>
  );
}

interface SetFields {
  readonly draft: KeyDraft;
  readonly set: (field: keyof KeyDraft) => (value: string) => void;
}

/** Team and person. Members choose among their own teams, and their keys are theirs. */
function GroupFields({ draft, set }: SetFields) {
  const names = useGroupNames();
  const own = session.value?.user?.teams ?? [];
  const teams = [...(names.get("team") ?? [])].filter(([id]) => may("manage") || own.includes(id));
  const people = [...(names.get("member") ?? [])];
  const none = may("manage") || own.length === 0 ? TEXT.noTeam : TEXT.firstTeam;
  const optionsOf = (first: string, found: readonly (readonly [string, string])[]) => [
    { value: "", label: first },
    ...found.map(([value, label]) => ({ value, label })),
  ];
  return (
    <div class="pair">
      {teams.length > 0 && (
        <SelectField label={TEXT.team} value={draft.team} options={optionsOf(none, teams)} onChange={set("team")} />
      )}
      {people.length > 1 && (
        <SelectField
          label={TEXT.member}
          value={draft.member}
          options={optionsOf(TEXT.aService, people)}
          onChange={set("member")}
        />
      )}
    </div>
  );
}

function LimitFields({ draft, set, expiries }: SetFields & Pick<KeyFieldsProps, "expiries">) {
  return (
    <>
      <div class="pair">
        {may("manage") && <ProfileField value={draft.profile} onChange={set("profile")} />}
        <SelectField label={TEXT.expires} value={draft.days} options={expiries} onChange={set("days")} />
      </div>
      {draft.days === ON_DATE && (
        <TextField
          label={TEXT.lastDay}
          type="date"
          value={draft.date}
          onInput={set("date")}
          hint={TEXT.lastDayHint}
          isRequired
        />
      )}
      <div class="pair">
        <TextField
          label={TEXT.requestsPerMinute}
          type="number"
          min="1"
          value={draft.perMinute}
          onInput={set("perMinute")}
          placeholder={TEXT.defaultLimit(session.value?.requestsPerMinute ?? null)}
        />
        <TextField label={TEXT.spendLimitUsd} value={draft.limit} onInput={set("limit")} placeholder={TEXT.none} />
      </div>
      {draft.limit.trim() !== "" && (
        <SelectField
          label={TEXT.resets}
          value={draft.reset}
          options={RESETS}
          onChange={set("reset")}
          hint={TEXT.resetsHint}
        />
      )}
    </>
  );
}

/** A key may name a profile that was deleted since: it stays in the list, or the field would show another one. */
function ProfileField({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  const choices = profiles.map(({ id, name }) => ({ value: id, label: name }));
  const chosen = profiles.find(({ id }) => id === value);
  const isDeleted = value !== "" && chosen === undefined;
  const deleted = isDeleted ? [{ value, label: TEXT.deletedProfile }] : [];
  return (
    <SelectField
      label={TEXT.profile}
      value={value}
      options={[{ value: "", label: TEXT.noProfile }, ...deleted, ...choices]}
      onChange={onChange}
      hint={chosen === undefined ? undefined : chipsOf(chosen).join(", ")}
    />
  );
}
