// Audit: who changed what, as rows under filters, one of them beside the list with its fields before and after.

import { useLoad, withAccount } from "../../api.ts";
import { utc } from "../../format.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { SearchInput } from "../../kit/field.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { Facts, Table } from "../../kit/table.tsx";
import { rowHref, useRowKeys } from "../../parts/row-keys.ts";
import { currentRange, rangeQuery } from "../../range.ts";
import { go, hrefWith, place, setQuery } from "../../router.ts";
import type { AuditEntry, List } from "../../types.ts";
import { timeText } from "../requests/time.ts";
import * as TEXT from "./text.ts";

const PAGE_ROWS = 50;
const LIST = "/audit";
/** The filters of the address, by the names of the API. */
const FILTERS = [
  ["actor", TEXT.searchWho],
  ["action", TEXT.searchAction],
  ["object", TEXT.searchObject],
] as const;

export function Audit() {
  const { path, query } = place.value;
  const openId = decodeURIComponent(path.split("/")[2] ?? "") || null;
  const after = query.get("after");
  const filter = FILTERS.map(([name]) => `&${name}=${encodeURIComponent(query.get(name) ?? "")}`).join("");
  const found = `${rangeQuery(currentRange())}${filter}`;
  const list = useLoad<List<AuditEntry>>(
    `/api/audit?limit=${PAGE_ROWS}&${found}${after === null ? "" : `&after=${after}`}`,
  );
  const entries = list.data?.data ?? [];
  useRowKeys(
    LIST,
    entries.map(({ id }) => id),
    openId,
  );
  return (
    <>
      <PageHead title={TEXT.audit} purpose={TEXT.purpose}>
        <RangePicker />
      </PageHead>
      <div class="filters">
        {FILTERS.map(([name, label]) => (
          <SearchInput
            key={name}
            label={label}
            value={query.get(name) ?? ""}
            isFilter={name === "actor"}
            onInput={(words) => setQuery({ [name]: words, after: null }, { replace: true })}
          />
        ))}
        <ButtonLink href={withAccount(`/api/audit/export?${found}`)} download="">
          {TEXT.exportNdjson}
        </ButtonLink>
      </div>
      <Shown load={list} rows={10} keepsRows>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noEntries}>{TEXT.emptyHint}</Empty>
          ) : (
            <>
              <AuditTable entries={data} openId={openId} />
              <nav class="row pages" aria-label={TEXT.pages}>
                {after !== null && <ButtonLink href={hrefWith({ after: null })}>{TEXT.newest}</ButtonLink>}
                {next !== null && <ButtonLink href={hrefWith({ after: next })}>{TEXT.older}</ButtonLink>}
              </nav>
            </>
          )
        }
      </Shown>
      {openId !== null && list.data !== null && (
        <EntrySheet key={openId} entry={entries.find(({ id }) => id === openId) ?? null} />
      )}
    </>
  );
}

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly openId: string | null;
}

function AuditTable({ entries, openId }: AuditTableProps) {
  return (
    <Table caption={TEXT.caption} heads={[TEXT.time, TEXT.who, TEXT.action, TEXT.object, TEXT.outcome]}>
      {entries.map((entry) => (
        <tr
          key={entry.id}
          data-row={entry.id}
          class={entry.id === openId ? "open" : ""}
          aria-current={entry.id === openId ? "true" : undefined}
          onClick={() => go(rowHref(LIST, entry.id))}
        >
          <td>
            <a href={rowHref(LIST, entry.id)} title={utc(entry.at)}>
              {timeText(entry.at)}
            </a>
          </td>
          <td class="cut" title={TEXT.KINDS[entry.actor.kind]}>
            <bdi>{nameOf(entry)}</bdi>
          </td>
          <td>
            <code>{entry.action}</code>
          </td>
          <td class="cut" title={entry.object}>
            <bdi>{objectOf(entry)}</bdi>
          </td>
          <td>
            <Outcome entry={entry} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function objectOf({ object, objectName }: AuditEntry): string {
  return objectName === null ? object : `${object.split("/")[0]}/${objectName}`;
}

function nameOf({ actor: { kind, name } }: AuditEntry): string {
  return name === "" ? (TEXT.KINDS[kind] ?? kind) : name;
}

function Outcome({ entry: { outcome } }: { readonly entry: AuditEntry }) {
  return (
    <span class={outcome === "refused" ? "chip bad" : "chip"}>{outcome === "refused" ? TEXT.refused : TEXT.done}</span>
  );
}

/** Everything that the entry says. Null where the list went on, or was narrowed. */
function EntrySheet({ entry }: { readonly entry: AuditEntry | null }) {
  const close = (): void => go(rowHref(LIST, null));
  if (entry === null) {
    return (
      <Sheet label={TEXT.audit} header={<h2>{TEXT.audit}</h2>} onClose={close}>
        <p>{TEXT.notHere}</p>
      </Sheet>
    );
  }
  const { action, object, actor, address, account, accountName, requestId, hash, at } = entry;
  const isRequest = requestId !== null;
  return (
    <Sheet label={TEXT.entryTitle(action, objectOf(entry))} header={<h2>{action}</h2>} onClose={close}>
      <Facts
        facts={[
          [TEXT.time, utc(at)],
          [TEXT.who, `${nameOf(entry)} (${TEXT.KINDS[actor.kind] ?? actor.kind})`],
          [TEXT.object, objectOf(entry) === object ? object : `${objectOf(entry)} (${object})`],
          [TEXT.outcome, <Outcome key="outcome" entry={entry} />],
          ...(account === null ? [] : [[TEXT.account, accountName ?? account] as const]),
          ...(address === null ? [] : [[TEXT.address, address] as const]),
          ...(isRequest ? [[TEXT.requestId, requestId] as const] : []),
          [TEXT.hash, <code key="hash">{hash}</code>],
        ]}
      />
      <Differences entry={entry} />
    </Sheet>
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields before and after, side by side; the words of a change of the configuration as a list. */
function Differences({ entry }: { readonly entry: AuditEntry }) {
  const [before, after] = [fieldsOf(entry.before), fieldsOf(entry.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return <p class="faint">{TEXT.nothingMore}</p>;
  const { changes } = after;
  if (Array.isArray(changes)) {
    return (
      <>
        <h3>{TEXT.changes}</h3>
        <ul>
          {changes.map((words) => (
            <li key={String(words)}>{String(words)}</li>
          ))}
        </ul>
      </>
    );
  }
  return (
    <Table caption={TEXT.differences} heads={[TEXT.field, TEXT.before, TEXT.after]}>
      {names.map((name) => (
        <tr key={name}>
          <td>{name}</td>
          <td>{written(before[name])}</td>
          <td>{written(after[name])}</td>
        </tr>
      ))}
    </Table>
  );
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function written(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
