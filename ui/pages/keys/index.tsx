// Keys: who may call, with which profile, and how much they use it. Searched, sorted and paged by the gateway.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { Spark } from "../../charts/spark.tsx";
import { ago, count, exact, plural, usdColumn, utc } from "../../format.ts";
import { useShortcuts } from "../../keyboard.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { SearchInput } from "../../kit/field.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { useCellNames } from "../../kit/table.tsx";
import { useGroupNames } from "../../parts/people/group-names.ts";
import { hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import type { Key, KeyPage, List, ListedKey, Profile } from "../../types.ts";
import { KeyCreation } from "./create.tsx";
import { KeyDetail } from "./detail.tsx";
import { KeyEdit } from "./edit.tsx";
import { KeyLimits, KeyStatus, ProfileName } from "./facts.tsx";
import { BulkRevocation, Revocation } from "./retire.tsx";
import * as TEXT from "./text.ts";

const PAGE_ROWS = 50;
/** Filters that have their name in the address. */
const NARROWING = ["q", "profile", "team", "member"];
const STATUSES = ["active", "expired", "revoked"] as const;
/** Length of the shown part of a key. More of a key has no place in an address. */
const PREFIX_LENGTH = 16;

/** One key where the path names it, else the list. `n` and the address open the dialog for a new key. */
export function Keys() {
  const { path, query } = place.value;
  const id = path.split("/")[2] ?? "";
  const create = (): void => setQuery({ new: "1" });
  useShortcuts({ n: create });
  return (
    <>
      {id === "" ? <KeyList onCreate={create} /> : <KeyDetail key={id} id={id} />}
      {query.get("new") !== null && <KeyCreation onClose={() => setQuery({ new: null }, { replace: true })} />}
    </>
  );
}

/** Everything that narrows or orders the list is in the address. */
function KeyList({ onCreate }: { readonly onCreate: () => void }) {
  const { query } = place.value;
  const [chosen, setChosen] = useState<readonly Key[]>([]);
  const [isRevoking, setRevoking] = useState(false);
  // Revoked and expired keys are kept for the record, and hidden unless asked for.
  const status = query.get("status") ?? "active";
  const wanted = new URLSearchParams({ limit: String(PAGE_ROWS), sort: query.get("sort") ?? "-created" });
  if (status !== "all") wanted.set("status", status);
  for (const name of [...NARROWING, "after"]) if (query.has(name)) wanted.set(name, query.get(name) ?? "");
  const keys = useLoad<KeyPage>(`/api/keys?${wanted}`);
  return (
    <>
      <PageHead title={TEXT.keys} purpose={TEXT.purpose}>
        <Button kind="primary" onClick={onCreate}>
          {TEXT.createKey}
        </Button>
      </PageHead>
      <KeyFilters status={status} />
      <div class="row" aria-live="polite">
        {chosen.length > 0 && (
          <>
            <Button kind="danger" onClick={() => setRevoking(true)}>
              {TEXT.revokeMany(plural(chosen.length, "key"))}
            </Button>
            <Button onClick={() => setChosen([])}>{TEXT.clear}</Button>
          </>
        )}
      </div>
      <Shown load={keys} rows={6} keepsRows>
        {({ data, next, total }) =>
          data.length === 0 ? (
            <NoKeys onCreate={onCreate} />
          ) : (
            <>
              <KeyTable keys={data} chosen={chosen} onChoose={setChosen} />
              <nav class="row pages" aria-label={TEXT.pages}>
                <span class="faint">{plural(total, "key")}</span>
                {query.has("after") && <ButtonLink href={hrefWith({ after: null })}>{TEXT.firstPage}</ButtonLink>}
                {next !== null && <ButtonLink href={hrefWith({ after: next })}>{TEXT.nextPage}</ButtonLink>}
              </nav>
            </>
          )
        }
      </Shown>
      {isRevoking && (
        <BulkRevocation
          keys={chosen}
          onClose={(isDone) => {
            setRevoking(false);
            if (isDone) setChosen([]);
          }}
        />
      )}
    </>
  );
}

/** Nothing yet, or nothing that passes the filters. */
function NoKeys({ onCreate }: { readonly onCreate: () => void }) {
  const isNarrowed = [...NARROWING, "status", "after"].some((name) => place.value.query.has(name));
  if (isNarrowed) {
    return <Empty title={TEXT.noMatch} action={<ButtonLink href={hrefTo("/keys")}>{TEXT.clear}</ButtonLink>} />;
  }
  return (
    <Empty title={TEXT.noKeys} action={<Button onClick={onCreate}>{TEXT.createKey}</Button>}>
      {TEXT.emptyHint}
    </Empty>
  );
}

/** The search follows the typing. */
function KeyFilters({ status }: { readonly status: string }) {
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  const groups = useGroupNames();
  const { query } = place.value;
  const change = (name: string, value: string): void => setQuery({ [name]: value, after: null }, { replace: true });
  const search = (text: string): void => change("q", text.startsWith("sk-") ? text.slice(0, PREFIX_LENGTH) : text);
  return (
    <search class="filters">
      <SearchInput label={TEXT.search} value={query.get("q") ?? ""} onInput={search} />
      <select
        aria-label={TEXT.status}
        value={status}
        onChange={({ currentTarget: { value } }) => change("status", value === "active" ? "" : value)}
      >
        {[...STATUSES, "all"].map((each) => (
          <option key={each} value={each}>
            {TEXT.statusNames[each]}
          </option>
        ))}
      </select>
      <select
        aria-label={TEXT.profile}
        value={query.get("profile") ?? ""}
        onChange={({ currentTarget: { value } }) => change("profile", value)}
      >
        <option value="">{TEXT.anyProfile}</option>
        <option value="none">{TEXT.noProfile}</option>
        {profiles.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <GroupFilter name="team" label={TEXT.team} any={TEXT.anyTeam} options={groups.get("team")} onChange={change} />
      <GroupFilter
        name="member"
        label={TEXT.member}
        any={TEXT.anyMember}
        options={groups.get("member")}
        onChange={change}
      />
    </search>
  );
}

interface GroupFilterProps {
  readonly name: string;
  readonly label: string;
  readonly any: string;
  readonly options: ReadonlyMap<string, string> | undefined;
  readonly onChange: (name: string, value: string) => void;
}

/** Is left out where there is nothing to choose. */
function GroupFilter({ name, label, any, options = new Map(), onChange }: GroupFilterProps) {
  const value = place.value.query.get(name) ?? "";
  if (options.size < 2 && value === "") return null;
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(name, event.currentTarget.value)}>
      <option value="">{any}</option>
      {[...options].map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
      {value !== "" && !options.has(value) && <option value={value}>{value}</option>}
    </select>
  );
}

/** The keys of one page, and which of all pages are chosen. */
interface KeyTableProps {
  readonly keys: readonly ListedKey[];
  readonly chosen: readonly Key[];
  readonly onChoose: (keys: readonly Key[]) => void;
}

/** The table holds the dialogs, so that a key that is gone from the list closes none. */
function KeyTable({ keys, chosen, onChoose }: KeyTableProps) {
  const [editing, setEditing] = useState<Key | null>(null);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const active = keys.filter(({ status }) => status === "active");
  const inColumn = usdColumn(keys.map(({ last30Days }) => last30Days.chargeUsd));
  const table = useCellNames();
  const isChosen = ({ id }: Key): boolean => chosen.some((key) => key.id === id);
  const choose = (changed: readonly Key[], isOn: boolean): void => {
    const rest = chosen.filter(({ id }) => !changed.some((key) => key.id === id));
    onChoose(isOn ? [...rest, ...changed] : rest);
  };
  return (
    <div class="table-box">
      <table ref={table} class="rows keys">
        <caption class="hidden">{TEXT.keys}</caption>
        <thead>
          <tr>
            <th scope="col">
              <Tick
                label={TEXT.chooseAll}
                isOn={active.length > 0 && active.every(isChosen)}
                onChange={(isOn) => choose(active, isOn)}
              />
            </th>
            <SortHead by="name" label={TEXT.name} />
            <th scope="col">{TEXT.key}</th>
            <th scope="col">{TEXT.profile}</th>
            <SortHead by="status" label={TEXT.status} />
            <SortHead by="lastUsed" label={TEXT.lastUsed} isDescending />
            <th scope="col" class="number">
              {TEXT.requestsOfMonth}
            </th>
            <SortHead by="spend" label={TEXT.spendOfMonth} isDescending isNumber />
            <th scope="col" data-cell="actions">
              <span class="hidden">{TEXT.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              row={key}
              inColumn={inColumn}
              isChosen={isChosen(key)}
              onChoose={(isOn) => choose([key], isOn)}
              onEdit={() => setEditing(key)}
              onRevoke={() => setRevoking(key)}
            />
          ))}
        </tbody>
      </table>
      {editing !== null && <KeyEdit target={editing} onClose={() => setEditing(null)} />}
      {revoking !== null && <Revocation target={revoking} onClose={() => setRevoking(null)} />}
    </div>
  );
}

/** A head that sorts; pressed again it turns the order around. */
interface SortHeadProps {
  readonly by: string;
  readonly label: string;
  readonly isDescending?: boolean;
  readonly isNumber?: boolean;
}

function SortHead({ by, label, isDescending = false, isNumber = false }: SortHeadProps) {
  const sort = place.value.query.get("sort") ?? "-created";
  const [first, second] = isDescending ? [`-${by}`, by] : [by, `-${by}`];
  const order = sort === by ? "ascending" : sort === `-${by}` ? "descending" : undefined;
  return (
    <th scope="col" class={isNumber ? "number" : ""} aria-sort={order}>
      <button
        type="button"
        class="sort"
        onClick={() => setQuery({ sort: sort === first ? second : first, after: null }, { replace: true })}
      >
        {label}
        {order === undefined ? "" : order === "ascending" ? " ↑" : " ↓"}
      </button>
    </th>
  );
}

/** A checkbox without a text beside it. */
function Tick({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** One key; the callbacks open its dialogs. */
interface KeyRowProps {
  readonly row: ListedKey;
  /** Writes the amounts of a column alike. */
  readonly inColumn: ReturnType<typeof usdColumn>;
  readonly isChosen: boolean;
  readonly onChoose: (isOn: boolean) => void;
  readonly onEdit: () => void;
  readonly onRevoke: () => void;
}

/** A key that works no more stays readable, but nothing can be done with it. */
function KeyRow({ row, inColumn, isChosen, onChoose, onEdit, onRevoke }: KeyRowProps) {
  const isActive = row.status === "active";
  const { requests, requestsPerDay, chargeUsd } = row.last30Days;
  // The same 30 days that the numbers are counted over.
  const href = hrefTo("/requests", { key: row.id, range: "30d", from: null, to: null });
  return (
    <tr class={isActive ? "" : "gone"}>
      <td data-cell="tick">{isActive && <Tick label={TEXT.choose(row.name)} isOn={isChosen} onChange={onChoose} />}</td>
      <td data-cell="name" class="cut">
        <a href={hrefTo(`/keys/${row.id}`)} title={row.name}>
          <bdi>{row.name}</bdi>
        </a>
        <KeyLimits row={row} />
      </td>
      <td data-cell="prefix">
        <code>{row.prefix}…</code>
      </td>
      <td data-cell="profile" class="cut">
        <ProfileName row={row} />
      </td>
      <td data-cell="status">
        <KeyStatus row={row} />
      </td>
      <td data-cell="used" title={utc(row.lastUsedAt)}>
        {ago(row.lastUsedAt)}
      </td>
      <td data-cell="requests" class="number">
        <span class="row">
          {requests > 0 && <Spark values={requestsPerDay} />}
          <a href={href}>{count(requests)}</a>
        </span>
      </td>
      <td data-cell="spend" class="number">
        <a href={href} title={exact(chargeUsd)}>
          {inColumn(chargeUsd)}
        </a>
      </td>
      <td data-cell="actions" class="actions">
        {isActive && (
          <>
            <Button kind="quiet" label={TEXT.editKey(row.name)} onClick={onEdit}>
              {TEXT.edit}
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
