// Running the draft for real: charged, streamed, and compared with the estimate.

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, call, refresh, send, toError } from "../../api.ts";
import { duration, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { TextBlock } from "../../kit/copy.tsx";
import { Problem } from "../../kit/states.tsx";
import { type Draft, questionOf } from "../../parts/playground-draft.ts";
import { hrefTo } from "../../router.ts";
import type { RequestDetail } from "../../types.ts";
import * as TEXT from "./text.ts";

/** A draft and what it would cost; without an estimate there is nothing to run. */
interface RunProps {
  readonly draft: Draft;
  readonly estimateUsd: string | null;
  /** Runs when this goes up. */
  readonly turn?: number;
  /** Stands inside another card. */
  readonly isPart?: boolean;
}

/** The button names the price before anything is spent. */
export function Run({ draft, estimateUsd, turn = 0, isPart = false }: RunProps) {
  const { text, isBusy, error, done, run, stop } = useRun(draft);
  // "Run all" of a comparison starts every card by counting up; the first render is no start.
  useEffect(() => {
    if (turn > 0) void run();
  }, [turn]);
  return (
    <section class={isPart ? "part" : "card"} aria-label={TEXT.run}>
      <div class="head-row">
        {isPart ? <h3>{TEXT.run}</h3> : <h2>{TEXT.run}</h2>}
        {isBusy ? (
          <Button onClick={stop}>{TEXT.stop}</Button>
        ) : (
          <Button kind="primary" isDisabled={estimateUsd === null} onClick={run}>
            {estimateUsd === null ? TEXT.run : TEXT.runFor(usd(estimateUsd))}
          </Button>
        )}
      </div>
      {!isPart && <p class="faint">{TEXT.runHint}</p>}
      <Problem error={error} />
      {text !== null && <TextBlock text={text === "" ? "…" : text} label={TEXT.response} />}
      {done !== null && (
        <p class="notice good">
          {TEXT.answerSummary(done.model, duration(done.latencyMs), usd(done.chargeUsd), usd(estimateUsd))}{" "}
          <a href={hrefTo(`/requests/${done.id}`)}>{TEXT.viewRequest}</a>
        </p>
      )}
    </section>
  );
}

/** One run at a time: its text as it streams in, and the recorded request when it is done. */
function useRun(draft: Draft) {
  const [text, setText] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [done, setDone] = useState<RequestDetail | null>(null);
  const abort = useRef<AbortController | null>(null);
  // Leaving the page ends the request: nobody reads the rest, and it would be charged.
  useEffect(() => () => abort.current?.abort(), []);
  const run = async (): Promise<void> => {
    abort.current = new AbortController();
    setBusy(true);
    setText("");
    setError(null);
    setDone(null);
    try {
      const body = { ...questionOf(draft), stream: true };
      const response = await send("POST", "/api/playground/run", { body, signal: abort.current.signal });
      if (!response.ok) throw toError(response, await response.json().catch(() => null));
      await readStream(response, (part) => setText((before) => (before ?? "") + part));
      setDone(await call<RequestDetail>("GET", `/api/requests/${response.headers.get("x-request-id") ?? ""}`));
      // `send` counts no writes: the balance and the lists are to be read again.
      refresh();
    } catch (problem) {
      if (!abort.current.signal.aborted) setError(problem as ApiError);
    }
    setBusy(false);
  };
  return { text, isBusy, error, done, run, stop: () => abort.current?.abort() };
}

/** The part of a chat-completions chunk that is shown. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly tool_calls?: unknown };
  }[];
  readonly error?: { readonly message?: string };
}

/** Server-sent events in the chat-completions format. A line may arrive in two parts. */
async function readStream(response: Response, onText: (text: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ") && line !== "data: [DONE]") onText(textOf(JSON.parse(line.slice(6)) as Chunk));
    }
  }
}

/** Text, tool calls as JSON, or the error that ended the stream. */
function textOf({ choices, error }: Chunk): string {
  if (error !== undefined) return `\n[${error.message ?? TEXT.interrupted}]`;
  const delta = choices?.[0]?.delta;
  return (delta?.content ?? "") + (delta?.tool_calls === undefined ? "" : JSON.stringify(delta.tool_calls));
}
