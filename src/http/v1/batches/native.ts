// Sends lines of batches to hosts that run batches for less, and takes their answers over. Whatever a host does not answer
// goes to our own queue.

import { randomBytes } from "node:crypto";
import type { ClaimedLine, NativeBatch } from "../../../core/batches/batches.ts";
import { type Sendable, sendable } from "../../../gateway/batches/native.ts";
import type { Caller } from "../../../gateway/call.ts";
import { nativeClientOf } from "../../../providers/native-batches.ts";
import type { PublicContext } from "../../context.ts";
import { placeOf, readToQuote } from "./lines.ts";

const MINUTE_MS = 60_000;
const LINES_AT_ONCE = 500;
/** Fewer lines are not worth a batch of a host. */
const LINES_MIN = 10;
const BYTES_AT_ONCE = 32 * 1024 * 1024;
/** Before its end a batch is cancelled at its host, so that our own queue has time for what is left; then it is given up. */
const CANCEL_BEFORE_MS = 120 * MINUTE_MS;
const GIVE_UP_BEFORE_MS = 30 * MINUTE_MS;
/** Lines that nobody could send for so long are left to our own queue. */
const UNSENT_MS = 10 * MINUTE_MS;

type NativeContext = Pick<
  PublicContext,
  "batches" | "keys" | "formats" | "services" | "state" | "settings" | "log" | "now"
>;

interface SentLine extends Sendable {
  readonly line: ClaimedLine;
}

/** One look at lines that may be sent, and at batches of hosts. */
export async function runNative(edge: NativeContext): Promise<void> {
  const { native } = edge.batches;
  await native.giveUpBefore(edge.now() - UNSENT_MS);
  const lines = edge.batches.nativeFrom === 0 ? [] : await native.claim(LINES_AT_ONCE, edge.now());
  if (lines.length > 0) await sendAll(lines, edge);
  for (const batch of await native.due(edge.now())) {
    await takeOver(batch, edge).catch((err: unknown) => warn(err, batch.provider, edge));
  }
}

function warn(err: unknown, provider: string, { log }: NativeContext): void {
  log.warn({ event: "batches.failed", provider, err }, "a batch of a host could not go on");
}

async function sendAll(lines: readonly ClaimedLine[], edge: NativeContext): Promise<void> {
  const { native } = edge.batches;
  const groups = new Map<string, SentLine[]>();
  const kept: ClaimedLine[] = [];
  try {
    const caller = await callerOfLines(lines[0] as ClaimedLine, edge);
    let bytes = 0;
    for (const line of lines) {
      const found = caller === null || bytes > BYTES_AT_ONCE ? null : await readSendable(line, caller, edge);
      if (found === null) kept.push(line);
      else {
        bytes += found.body.length;
        const name = JSON.stringify([found.provider, found.host.model, found.path]);
        groups.set(name, [...(groups.get(name) ?? []), { ...found, line }]);
      }
    }
  } catch (error) {
    await native.keep(lines);
    throw error;
  }
  for (const group of groups.values()) {
    if (group.length < LINES_MIN) kept.push(...group.map(({ line }) => line));
    else
      await send(group, edge).catch(async (err: unknown) => {
        warn(err, (group[0] as SentLine).provider, edge);
        await native.keep(group.map(({ line }) => line));
      });
  }
  await native.keep(kept);
}

/** All lines of a batch have its key. Null where that is no longer valid: each line then says so. */
async function callerOfLines({ batch }: ClaimedLine, { keys }: NativeContext): Promise<Caller | null> {
  const key = await keys.get(batch.accountId, batch.keyId);
  const verified = key === null ? null : keys.verifyHash(key.hash);
  return verified?.state === "ok" ? { key: verified.key, profile: verified.profile, teams: verified.teams } : null;
}

/** Resolves to null for a line that our own queue runs, with the error that it may have. */
async function readSendable(line: ClaimedLine, caller: Caller, edge: NativeContext): Promise<Sendable | null> {
  const { request, batch } = line;
  if (request === null) return null;
  const place = placeOf(batch.content.endpoint, edge);
  const call = await readToQuote(request, { ...place, caller }, edge).catch(() => null);
  return call === null ? null : sendable(call, edge.services());
}

const keyOf = ({ position }: ClaimedLine): string => `line-${position}`;

async function send(group: readonly SentLine[], edge: NativeContext): Promise<void> {
  const [{ provider, path, line }] = group as readonly [SentLine, ...SentLine[]];
  const client = nativeClientOf(provider, edge.services().registry);
  if (client === null) throw new Error(`${provider} runs no batches`);
  const requests = group.map((sent) => ({ key: keyOf(sent.line), body: sent.body }));
  const remoteId = await client.begin(path, requests);
  const { accountId, id: batchId } = line.batch;
  const createdAtMs = edge.now();
  const id = `native_${createdAtMs.toString(16).padStart(12, "0")}${randomBytes(8).toString("hex")}`;
  await edge.batches.native.sent({ accountId, id, batchId, provider, remoteId, createdAtMs }, group);
}

async function takeOver(batch: NativeBatch, edge: NativeContext): Promise<void> {
  const { native } = edge.batches;
  const client = nativeClientOf(batch.provider, edge.services().registry);
  const leftMs = batch.expiresAtMs - edge.now();
  if (client === null || leftMs <= GIVE_UP_BEFORE_MS) return native.over(batch);
  const state = await client.state(batch.remoteId);
  if (state === null) return native.over(batch);
  if (!state.isOver) {
    if (batch.isCancelled || leftMs <= CANCEL_BEFORE_MS) await client.cancel(batch.remoteId);
    return;
  }
  for (const path of state.resultPaths) {
    for await (const { key, body } of client.results(path)) {
      const [, position] = /^line-(\d+)$/.exec(key) ?? [];
      if (position !== undefined) await native.answered(batch, Number(position), body);
    }
  }
  await native.over(batch);
}
