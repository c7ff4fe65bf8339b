// Sessions: conversations as rows, one of them beside the list as a timeline of its turns.

import { UNNAMED } from "../../../src/core/session.ts";
import { useLoad } from "../../api.ts";
import { balance, count, duration, exact, percent, plural, usd, utc } from "../../format.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { PageHead, RangePicker } from "../../kit/page.tsx";
import { Sheet } from "../../kit/sheet.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { rowHref, useRowKeys } from "../../parts/row-keys.ts";
import { savedAgainst } from "../../parts/text.ts";
import { currentRange, rangeQuery } from "../../range.ts";
import { go, hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import type { List, RequestSession, SessionDetail } from "../../types.ts";
import { Status } from "../requests/facts.tsx";
import { timeText } from "../requests/time.ts";
import * as TEXT from "./text.ts";

const PAGE_ROWS = 50;
const LIST = "/sessions";

export function Sessions() {
  const { path, query } = place.value;
  const openId = decodeURIComponent(path.split("/")[2] ?? "") || null;
  const [after, state] = [query.get("after"), query.get("state")];
  const list = useLoad<List<RequestSession>>(
    `/api/sessions?limit=${PAGE_ROWS}&${rangeQuery(currentRange())}${state === null ? "" : `&state=${state}`}${after === null ? "" : `&after=${after}`}`,
  );
  useRowKeys(LIST, list.data?.data.map(({ session }) => session) ?? [], openId);
  return (
    <>
      <PageHead title={TEXT.sessions} purpose={TEXT.purpose}>
        <select
          aria-label={TEXT.state}
          value={state ?? ""}
          onChange={(event) => setQuery({ state: event.currentTarget.value, after: null })}
        >
          <option value="">{TEXT.anyState}</option>
          {TEXT.STATES.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
        <RangePicker />
      </PageHead>
      <Shown load={list} rows={10}>
        {({ data, next }) =>
          data.length === 0 ? (
            <Empty title={TEXT.noSessions}>{TEXT.emptyHint}</Empty>
          ) : (
            <>
              <SessionTable rows={data} openId={openId} />
              <nav class="row pages" aria-label={TEXT.pages}>
                {after !== null && <ButtonLink href={hrefWith({ after: null })}>{TEXT.newest}</ButtonLink>}
                {next !== null && <ButtonLink href={hrefWith({ after: next })}>{TEXT.older}</ButtonLink>}
              </nav>
            </>
          )
        }
      </Shown>
      {openId !== null && <SessionSheet key={openId} id={openId} />}
    </>
  );
}

function SessionTable({ rows, openId }: { readonly rows: readonly RequestSession[]; readonly openId: string | null }) {
  return (
    <Table
      class="requests sessions"
      caption={TEXT.tableCaption}
      heads={[
        TEXT.last,
        TEXT.models,
        TEXT.hosts,
        TEXT.user,
        ...[TEXT.turns, TEXT.switches, TEXT.cache, TEXT.cost, TEXT.saved].map(numberHead),
      ]}
    >
      {rows.map((row) => (
        <SessionRow key={row.session} row={row} isOpen={row.session === openId} />
      ))}
    </Table>
  );
}

function SessionRow({ row, isOpen }: { readonly row: RequestSession; readonly isOpen: boolean }) {
  const saved = Number(row.savedUsd) / (Number(row.savedUsd) + Number(row.chargeUsd) || 1);
  return (
    <tr
      data-row={row.session}
      class={isOpen ? "open" : ""}
      aria-current={isOpen ? "true" : undefined}
      onClick={() => go(rowHref(LIST, row.session))}
    >
      <td data-cell="time">
        <a href={rowHref(LIST, row.session)} title={`${utc(row.lastAt)}, ${row.session}`}>
          {timeText(row.lastAt)}
        </a>
      </td>
      <td data-cell="model">{row.models.join(" → ")}</td>
      <td data-cell="host" class="cut" title={row.hosts.join(", ")}>
        {row.hosts.join(", ")}
      </td>
      <td data-cell="user" class="cut" title={row.users.join(", ")}>
        {row.users.length > 0 && <bdi>{row.users.join(", ")}</bdi>}
      </td>
      <td data-cell="turns" class="number">
        {plural(row.turns, "turn")}
      </td>
      <td data-cell="switches" class="number">
        {row.switches + row.escalations}
      </td>
      <td data-cell="cache" class="number" title={`${row.cachedTokens}`}>
        {row.cacheHits} / {row.turns}
      </td>
      <td data-cell="cost" class="number" title={exact(row.chargeUsd)}>
        {balance(row.chargeUsd)}
      </td>
      <td data-cell="saved" class="number" title={savedAgainst(exact(row.savedUsd), row)}>
        {percent(saved)}
      </td>
    </tr>
  );
}

function SessionSheet({ id }: { readonly id: string }) {
  const load = useLoad<SessionDetail>(`/api/sessions/${encodeURIComponent(id)}`);
  const found = load.data;
  return (
    <Sheet
      label={TEXT.sessionTitle(id)}
      onClose={() => go(rowHref(LIST, null))}
      header={
        <>
          <h2>
            <code class="cut">{id}</code>
          </h2>
          {found !== null && (
            <p class="faint">
              {TEXT.about(plural(found.turns, "turn"), usd(found.chargeUsd), count(found.cachedTokens))}
            </p>
          )}
        </>
      }
      footer={<ButtonLink href={hrefTo("/requests", { session: id })}>{TEXT.allRequests}</ButtonLink>}
    >
      <Shown load={load} rows={8}>
        {({ turnList, turns }) => (
          <>
            {turns > 1 && id.startsWith(UNNAMED) && <p class="faint">{TEXT.unnamed}</p>}
            {turnList.length < turns && <p class="faint">{TEXT.newestTurns(turnList.length)}</p>}
            <ol class="timeline" aria-label={TEXT.timeline}>
              {turnList.map((turn) => (
                <Turn key={turn.id} turn={turn} />
              ))}
            </ol>
          </>
        )}
      </Shown>
    </Sheet>
  );
}

type SessionTurn = SessionDetail["turnList"][number];

/** Shows what changed with a turn and why, as its decision recorded. */
function Turn({ turn }: { readonly turn: SessionTurn }) {
  const state = turn.sessionState;
  const hasChanged = state === "switched" || state === "escalated";
  const cached = turn.tokens?.cacheRead ?? 0;
  const changes = hasChanged && turn.before && changesOf(turn.before, turn);
  return (
    <li class={hasChanged ? "changed" : ""}>
      <div class="row">
        <a href={hrefTo(`/requests/${turn.id}`)}>{timeText(turn.createdAt)}</a>
        {state !== null && <span class={hasChanged ? "chip caution" : "faint"}>{TEXT.STATE_NAMES[state]}</span>}
        {turn.error && <Status row={turn} />}
      </div>
      <div class="row">
        <TierBadge tier={turn.tier} />
        <b class="grow cut">{turn.model ?? "—"}</b>
        <span class="faint">{turn.provider}</span>
      </div>
      <p class="row faint">
        <span>{usd(turn.chargeUsd)}</span>
        <span>{duration(turn.latencyMs)}</span>
        {cached > 0 && <span>{TEXT.cached(count(cached))}</span>}
      </p>
      {changes && <p>{changes}</p>}
      {hasChanged && turn.reasoning !== null && <p>{turn.reasoning}</p>}
    </li>
  );
}

/** `Model: gpt-5-nano → glm-4.6`, for each that is another one than before. */
function changesOf(before: NonNullable<SessionTurn["before"]>, turn: SessionTurn): string {
  return (["model", "provider", "tier"] as const)
    .filter((field) => before[field] !== turn[field])
    .map((field) => TEXT.changed(TEXT.FIELDS[field], before[field] ?? "—", turn[field] ?? "—"))
    .join(", ");
}
