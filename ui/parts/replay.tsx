// The replay: which of the last requests would move under edited rules or chains, and what they would have cost.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../api.ts";
import { percent, plural, usd, utc } from "../format.ts";
import { Empty, Problem, Skeleton } from "../kit/states.tsx";
import { hrefTo } from "../router.ts";
import type { ReplayedChange, ReplayResult } from "../types.ts";
import * as TEXT from "./text.ts";

/** Waits for a pause in typing, since every question replays many requests. */
const PAUSE_MS = 200;
/** Number of rows that are shown; more would hide the sum above them. */
const SHOWN_MAX = 30;

/** Endpoint to ask, and the draft to ask about: of a profile or of the configuration. Null before anything differs. */
interface ReplayProps {
  readonly path: string;
  readonly draft: object | null;
}

/** Without a draft there is nothing to compare: what was decided then differs from now for other reasons, too. */
export function Replay({ path, draft }: ReplayProps) {
  if (draft !== null) return <ReplayOf path={path} draft={draft} />;
  return (
    <section class="card" aria-label={TEXT.replay}>
      <h2>{TEXT.replayTitle}</h2>
      <p class="faint">{TEXT.replayUntouched}</p>
    </section>
  );
}

/** The old result stays, dimmed, until the new one is there. */
function ReplayOf({ path, draft }: ReplayProps & { readonly draft: object }) {
  const [replayed, setReplayed] = useState<ReplayResult | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isStale, setStale] = useState(false);
  // The draft as text, so that an equal one is not sent again.
  const question = JSON.stringify(draft);
  useEffect(() => {
    const abort = new AbortController();
    setStale(true);
    const timer = setTimeout(() => {
      const body: unknown = JSON.parse(question);
      call<ReplayResult>("POST", path, { body, signal: abort.signal, isQuestion: true }).then(
        (response) => {
          setReplayed(response);
          setError(null);
          setStale(false);
        },
        (problem: unknown) => {
          if (!abort.signal.aborted) setError(problem as ApiError);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [path, question]);
  const isOld = isStale && replayed !== null;
  return (
    <section class={isOld ? "card stale" : "card"} aria-busy={isOld} aria-label={TEXT.replay} aria-live="polite">
      <h2>{TEXT.replayTitle}</h2>
      <Problem error={error} />
      {replayed === null ? error === null && <Skeleton rows={6} /> : <Outcome replayed={replayed} />}
    </section>
  );
}

/** The sum first, then the requests that would change. */
function Outcome({ replayed }: { readonly replayed: ReplayResult }) {
  if (replayed.requests === 0) {
    return <Empty title={TEXT.replayEmpty}>{TEXT.replayEmptyHint}</Empty>;
  }
  const before = Number(replayed.costBeforeUsd);
  const change = Number(replayed.costAfterUsd) - before;
  const moves = [
    ...(replayed.up === 0 ? [] : [TEXT.wouldMoveUp(replayed.up)]),
    ...(replayed.down === 0 ? [] : [TEXT.wouldMoveDown(replayed.down)]),
    ...(replayed.refused === 0 ? [] : [TEXT.wouldBeRefused(replayed.refused)]),
  ];
  return (
    <>
      <p>
        {TEXT.lastRequests(plural(replayed.requests, "request"))} {moves.join(", ") || TEXT.noneWouldMove}.
      </p>
      <p class="big">
        {change >= 0 ? "+" : ""}
        {usd(change)} <small>{before === 0 ? "" : percent(change / before)}</small>
      </p>
      <p class="faint">{TEXT.replayCosts(usd(replayed.costBeforeUsd), usd(replayed.costAfterUsd))}</p>
      {replayed.changes.length > 0 && (
        <ul class="plain-list replay">
          {replayed.changes.slice(0, SHOWN_MAX).map((each) => (
            <ChangeRow key={`${each.requestId}-${each.at}`} change={each} />
          ))}
        </ul>
      )}
      {replayed.changes.length > SHOWN_MAX && <p class="faint">{TEXT.andMore(replayed.changes.length - SHOWN_MAX)}</p>}
    </>
  );
}

/** Opens the request. The tooltip says why the request would move. */
function ChangeRow({ change }: { readonly change: ReplayedChange }) {
  const { before, after } = change;
  return (
    <li>
      <a
        href={hrefTo(`/requests/${encodeURIComponent(change.requestId)}`)}
        title={[utc(change.at), ...change.because].join("\n")}
      >
        <span>
          {before.tier} → {after?.tier ?? <b class="bad">{TEXT.refused}</b>}
        </span>
        <span class="cut faint">{after === null ? change.refusedBecause : `${before.model} → ${after.model}`}</span>
        <span class="number">
          {before.costUsd === null ? TEXT.notAnswered : `${usd(before.costUsd)} → ${usd(after?.costUsd)}`}
        </span>
      </a>
    </li>
  );
}
