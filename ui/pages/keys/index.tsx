// Keys: who may call, with which profile, and how much they use it.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { timesOf } from "../../charts/scale.ts";
import { Spark } from "../../charts/spark.tsx";
import { ago, count, usd, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button } from "../../kit/button.tsx";
import { Check } from "../../kit/field.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { hrefTo, place, setQuery } from "../../router.ts";
import type { Key, List, Profile, Usage } from "../../types.ts";
import { byGroup, spent, sum } from "../../usage.ts";
import { KeyCreation } from "./create.tsx";
import { KeyEdit } from "./edit.tsx";
import { Revocation, Rotation } from "./retire.tsx";
import { isSpent, spentText } from "./spend.tsx";
import * as TEXT from "./text.ts";

/** The time that requests and spend are counted over. */
const MONTH_MS = 30 * 86_400_000;
/** With more keys, usage by day would be a larger response than the sparklines are worth. */
const DAILY_KEYS_MAX = 40;

/** The list; `n` and the address open the dialog for a new key. */
export function Keys() {
  const { query } = place.value;
  const keys = useLoad<List<Key>>("/api/keys?limit=500");
  const [days] = useState(() => timesOf({ fromMs: Date.now() - MONTH_MS, toMs: Date.now() }, "day"));
  // Usage waits for the keys: how many there are decides how fine it is asked for.
  const by = (keys.data?.data.length ?? 0) > DAILY_KEYS_MAX ? "total" : "day";
  const asked = `/api/usage?by=${by}&group=key&latency=false&from=${new Date(days[0] ?? 0).toISOString()}`;
  const usage = byGroup(useLoad<List<Usage>>(keys.data === null ? null : asked).data);
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  // Revoked and expired keys are kept for the record, and hidden unless asked for.
  const isAll = query.get("show") === "all";
  const create = (): void => setQuery({ new: "1" });
  useShortcuts({ n: create });
  return (
    <>
      <PageHead title={TEXT.keys} purpose={TEXT.purpose}>
        <Check
          label={TEXT.showRevoked}
          isOn={isAll}
          onChange={(isOn) => setQuery({ show: isOn ? "all" : null }, { replace: true })}
        />
        <Button kind="primary" onClick={create}>
          {TEXT.createKey}
        </Button>
      </PageHead>
      <Shown load={keys} rows={6}>
        {({ data }) => {
          const shown = data.filter(({ status }) => isAll || status === "active");
          if (shown.length === 0) {
            return (
              <Empty title={TEXT.noKeys} action={<Button onClick={create}>{TEXT.createKey}</Button>}>
                {TEXT.emptyHint}
              </Empty>
            );
          }
          return <KeyTable keys={shown} usage={usage} days={days} profiles={profiles} />;
        }}
      </Shown>
      {query.get("new") !== null && <KeyCreation onClose={() => setQuery({ new: null }, { replace: true })} />}
    </>
  );
}

/** Keys with their usage of 30 days, by id. */
interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly usage: ReadonlyMap<string, readonly Usage[]>;
  readonly days: readonly number[];
  readonly profiles: readonly Profile[];
}

/** One dialog at a time, above the table, about the key it was opened for. */
function KeyTable({ keys, usage, days, profiles }: KeyTableProps) {
  const [editing, setEditing] = useState<Key | null>(null);
  const [rotating, setRotating] = useState<Key | null>(null);
  const [revoking, setRevoking] = useState<Key | null>(null);
  return (
    <div class="table-box">
      <table class="rows keys">
        <caption class="hidden">{TEXT.keys}</caption>
        <thead>
          <tr>
            <th scope="col">{TEXT.name}</th>
            <th scope="col">{TEXT.key}</th>
            <th scope="col">{TEXT.profile}</th>
            <th scope="col">{TEXT.status}</th>
            <th scope="col" title={TEXT.lastUsedHint}>
              {TEXT.lastUsed}
            </th>
            <th scope="col" class="number">
              {TEXT.requestsOfMonth}
            </th>
            <th scope="col" class="number">
              {TEXT.spendOfMonth}
            </th>
            <th scope="col">
              <span class="hidden">{TEXT.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              row={key}
              usage={usage.get(key.id) ?? []}
              days={days}
              profile={key.profile === null ? null : (profiles.find(({ id }) => id === key.profile) ?? null)}
              onEdit={() => setEditing(key)}
              onRotate={() => setRotating(key)}
              onRevoke={() => setRevoking(key)}
            />
          ))}
        </tbody>
      </table>
      {editing !== null && <KeyEdit target={editing} onClose={() => setEditing(null)} />}
      {rotating !== null && <Rotation target={rotating} onClose={() => setRotating(null)} />}
      {revoking !== null && <Revocation target={revoking} onClose={() => setRevoking(null)} />}
    </div>
  );
}

/** One key; the callbacks open its dialogs. */
interface KeyRowProps {
  readonly row: Key;
  readonly usage: readonly Usage[];
  readonly days: readonly number[];
  readonly profile: Profile | null;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
}

/** A key that works no more stays readable, but nothing can be done with it. */
function KeyRow({ row, usage, days, profile, onEdit, onRotate, onRevoke }: KeyRowProps) {
  const isActive = row.status === "active";
  // A day without requests has no row.
  const perDay = days.map((day) => usage.find(({ start }) => Date.parse(start) === day)?.requests ?? 0);
  // The same 30 days that the numbers are counted over.
  const requests = hrefTo("/requests", { key: row.id, range: "30d", from: null, to: null });
  return (
    <tr class={isActive ? "" : "gone"}>
      <td data-cell="name">
        <b>{row.name}</b>
        <KeyLimits row={row} />
      </td>
      <td data-cell="prefix">
        <code>{row.prefix}…</code>
      </td>
      <td data-cell="profile">
        <ProfileName row={row} profile={profile} />
      </td>
      <td data-cell="status">
        <span class={`status ${isActive ? "good" : "bad"}`} title={utc(row.revokedAt ?? row.expiresAt)}>
          {row.status}
        </span>
      </td>
      <td data-cell="used" title={utc(row.lastUsedAt)}>
        {ago(row.lastUsedAt)}
      </td>
      <td data-cell="requests" class="number">
        <span class="row">
          {/* One row is a total without days, or a single day: neither makes a line. */}
          {usage.length > 1 && <Spark values={perDay} />}
          <a href={requests}>{count(sum(usage, (day) => day.requests))}</a>
        </span>
      </td>
      <td data-cell="spend" class="number">
        <a href={requests}>{usd(sum(usage, spent))}</a>
      </td>
      <td data-cell="actions" class="actions">
        {isActive && (
          <>
            <Button kind="quiet" label={TEXT.editKey(row.name)} onClick={onEdit}>
              {TEXT.edit}
            </Button>
            <Button kind="quiet" label={TEXT.rotateNamed(row.name)} onClick={onRotate}>
              {TEXT.rotate}
            </Button>
            <Button kind="quiet" label={TEXT.revokeNamed(row.name)} onClick={onRevoke}>
              {TEXT.revoke}
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

/** Limits, expiry and age in one line; what is spent in another, red when the limit is reached. */
function KeyLimits({ row }: { readonly row: Key }) {
  const limits = [
    row.requestsPerMinute === null ? null : `${row.requestsPerMinute}/min`,
    row.expiresAt === null || row.status !== "active" ? null : TEXT.expiresWhen(ago(row.expiresAt)),
    TEXT.createdWhen(ago(row.createdAt)),
  ].filter((limit) => limit !== null);
  const spent = spentText(row);
  return (
    <>
      <small class="faint block" title={utc(row.createdAt)}>
        {limits.join(" · ")}
      </small>
      {spent !== null && (
        <small class={`block ${isSpent(row) ? "bad" : "faint"}`} title={utc(row.spendResetsAt)}>
          {spent}
        </small>
      )}
    </>
  );
}

/** The profile as a link; none; or one that was deleted, which makes every call fail. */
function ProfileName({ row, profile }: { readonly row: Key; readonly profile: Profile | null }) {
  if (row.profile === null) return <span class="faint">{TEXT.none}</span>;
  if (profile === null) {
    return (
      <span class="bad" title={TEXT.deletedProfileHint}>
        {TEXT.deletedProfile}
      </span>
    );
  }
  return <a href={hrefTo(`/profiles/${profile.id}`)}>{profile.name}</a>;
}
