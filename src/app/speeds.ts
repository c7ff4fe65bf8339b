// Shares the host speeds that each process observes: between workers over the primary process, and between gateways over
// PostgreSQL notifications. Runs off the request path, and a lost sample does no harm.

import { hash, randomUUID } from "node:crypto";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { Services } from "../gateway/services.ts";
import { createTeller } from "../gateway/sessions/keeper.ts";
import type { SpeedSample } from "../providers/speeds.ts";
import { SPEEDS_CHANNEL } from "../store/postgres/changes.ts";
import { hostsByKey } from "./snapshots.ts";
import { HOST_SPEEDS, type WorkerSlot } from "./worker.ts";

export interface SharedSpeeds {
  /** Sends a sample to the other processes within a second; undefined where there is no other. */
  readonly share: ((sample: SpeedSample) => void) | undefined;
  /** Reads samples that another process sent. */
  receive(text: string): void;
}

interface SpeedsContext {
  readonly worker: Pick<WorkerSlot, "link"> | null;
  readonly current: () => Pick<Services, "catalog" | "speeds">;
  readonly log: Log;
}

/** Samples as sent. `route` is the host key, by the name that earlier versions use too. */
interface SpeedMessage {
  readonly from: string;
  /** Rises with each message of a process. */
  readonly number: number;
  readonly samples: readonly SentSample[];
}

interface SentSample extends Omit<SpeedSample, "hostKey"> {
  readonly route: string;
  /** Hash of the host's address and upstream name; null if the sender no longer has the host. */
  readonly lead: string | null;
}

const EVERY_MS = 1_000;
/** PostgreSQL takes 8,000 bytes in a notification. The newest samples are enough. */
const SAMPLES_MAX = 25;

export function shareSpeeds(db: Pick<Db, "kind" | "query">, { worker, current, log }: SpeedsContext): SharedSpeeds {
  const from = randomUUID();
  /** Number of the newest message of each process. Workers on PostgreSQL get each message twice. */
  const received = new Map<string, number>([[from, Number.POSITIVE_INFINITY]]);
  let number = 0;
  const isAlone = worker === null && db.kind === "sqlite";
  const tell = createTeller<SpeedSample>((seen) => {
    const leadOf = leadsIn(current());
    const samples = seen.slice(-SAMPLES_MAX).map((sample) => ({ ...rounded(sample), lead: leadOf(sample.hostKey) }));
    number += 1;
    const text = JSON.stringify({ from, number, samples } satisfies SpeedMessage);
    worker?.link.publish(HOST_SPEEDS, text);
    if (db.kind === "sqlite") return;
    db.query("SELECT pg_notify($1, $2)", [SPEEDS_CHANNEL, text]).catch((err: unknown) => {
      log.debug({ event: "speeds.unshared", err }, "host speeds could not be shared");
    });
  }, EVERY_MS);

  function receive(text: string): void {
    const message = JSON.parse(text) as SpeedMessage;
    if (message.number <= (received.get(message.from) ?? 0)) return;
    received.set(message.from, message.number);
    const services = current();
    const leadOf = leadsIn(services);
    // Another configuration may give the same key to another host.
    for (const { lead, route: hostKey, ...speed } of message.samples)
      if (lead !== null && lead === leadOf(hostKey)) services.speeds.learn({ hostKey, ...speed });
  }

  return { share: isAlone ? undefined : tell, receive };
}

function rounded({ hostKey, firstMs, headMs, tokensPerSecond }: SpeedSample): Omit<SentSample, "lead"> {
  const round = (value: number | null): number | null => (value === null ? null : Math.round(value));
  return { route: hostKey, firstMs: round(firstMs), headMs: round(headMs), tokensPerSecond: round(tokensPerSecond) };
}

/** Hashes the provider, address and upstream name that speeds belong to. Behaviour 1.28. */
function leadsIn({ catalog }: Pick<Services, "catalog">): (hostKey: string) => string | null {
  const hosts = hostsByKey(catalog);
  return (hostKey) => {
    const host = hosts.get(hostKey);
    if (host === undefined) return null;
    const lead = `${host.provider} ${catalog.providers.get(host.provider)?.baseUrl} ${host.upstream}`;
    return hash("sha256", lead, "base64url").slice(0, LEAD_CHARS);
  };
}

const LEAD_CHARS = 12;
