// Keys: who may call, with which profile, and how much they use it.

import { useState } from "preact/hooks";
import { useLoad } from "../api.ts";
import { ago, count, usd, utc } from "../format.ts";
import { useShortcuts } from "../keyboard.ts";
import { Button } from "../kit/button.tsx";
import { Check } from "../kit/field.tsx";
import { PageHead } from "../kit/page.tsx";
import { Empty, Shown } from "../kit/states.tsx";
import { hrefTo, place, setQuery } from "../router.ts";
import type { Key, List, Profile, Usage } from "../types.ts";
import { KeyCreation } from "./key-create.tsx";
import { KeyEdit } from "./key-edit.tsx";
import { Revocation, Rotation } from "./key-end.tsx";

const MONTH_MS = 30 * 86_400_000;

export function Keys() {
  const { query } = place.value;
  const keys = useLoad<List<Key>>("/api/keys?limit=500");
  const [from] = useState(() => new Date(Date.now() - MONTH_MS).toISOString());
  const usage = useLoad<List<Usage>>(`/api/usage?by=total&group=key&from=${from}`).data?.data ?? [];
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  const isAll = query.get("show") === "all";
  const create = (): void => setQuery({ new: "1" });
  useShortcuts({ n: create });
  return (
    <>
      <PageHead
        title="Keys"
        purpose="Callers name themselves with a key. A key may carry a profile, limits and an end."
      >
        <Check
          label="revoked and expired too"
          isOn={isAll}
          onChange={(isOn) => setQuery({ show: isOn ? "all" : null }, { replace: true })}
        />
        <Button kind="primary" onClick={create}>
          New key
        </Button>
      </PageHead>
      <Shown load={keys} rows={6}>
        {({ data }) => {
          const shown = data.filter(({ status }) => isAll || status === "active");
          if (shown.length === 0) {
            return (
              <Empty title="No key can call this gateway" action={<Button onClick={create}>Create a key</Button>}>
                A key is shown once, when it is made.
              </Empty>
            );
          }
          return <KeyTable keys={shown} usage={usage} profiles={profiles} />;
        }}
      </Shown>
      {query.get("new") !== null && <KeyCreation onClose={() => setQuery({ new: null }, { replace: true })} />}
    </>
  );
}

function KeyTable({
  keys,
  usage,
  profiles,
}: {
  readonly keys: readonly Key[];
  readonly usage: readonly Usage[];
  readonly profiles: readonly Profile[];
}) {
  const [editing, setEditing] = useState<Key | null>(null);
  const [rotating, setRotating] = useState<Key | null>(null);
  const [revoking, setRevoking] = useState<Key | null>(null);
  return (
    <div class="table-box">
      <table class="rows keys">
        <caption class="hidden">Keys</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Key</th>
            <th scope="col">Profile</th>
            <th scope="col">Status</th>
            <th scope="col" title="Updated every few minutes">
              Last used
            </th>
            <th scope="col" class="number">
              Requests, 30 d
            </th>
            <th scope="col" class="number">
              Spend, 30 d
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              row={key}
              usage={usage.find(({ group }) => group === key.id) ?? null}
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

function KeyRow({
  row,
  usage,
  profile,
  onEdit,
  onRotate,
  onRevoke,
}: {
  readonly row: Key;
  readonly usage: Usage | null;
  readonly profile: Profile | null;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
}) {
  const isActive = row.status === "active";
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
        <a href={requests}>{count(usage?.requests ?? 0)}</a>
      </td>
      <td data-cell="spend" class="number" title={usage?.chargeUsd}>
        <a href={requests}>{usd(usage?.chargeUsd ?? 0)}</a>
      </td>
      <td data-cell="actions" class="actions">
        {isActive && (
          <>
            <Button kind="quiet" label={`Change ${row.name}`} onClick={onEdit}>
              Change
            </Button>
            <Button kind="quiet" label={`Rotate ${row.name}`} onClick={onRotate}>
              Rotate
            </Button>
            <Button kind="quiet" label={`Revoke ${row.name}`} onClick={onRevoke}>
              Revoke
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

function KeyLimits({ row }: { readonly row: Key }) {
  const limits = [
    row.requestsPerMinute === null ? null : `${row.requestsPerMinute}/min`,
    row.spendLimitUsd === null ? null : `up to ${usd(row.spendLimitUsd)}`,
    row.expiresAt === null || row.status !== "active" ? null : `expires ${ago(row.expiresAt)}`,
  ].filter((limit) => limit !== null);
  return limits.length === 0 ? null : <small class="faint block">{limits.join(" · ")}</small>;
}

function ProfileName({ row, profile }: { readonly row: Key; readonly profile: Profile | null }) {
  if (row.profile === null) return <span class="faint">none</span>;
  if (profile === null) {
    return (
      <span class="bad" title="Calls with this key answer 401 until it is given another profile, or none.">
        deleted profile
      </span>
    );
  }
  return <a href={hrefTo(`/profiles/${profile.id}`)}>{profile.name}</a>;
}
