// A gateway with several worker processes, from the build. Each request here comes on a connection of its own, so that
// the workers get them in turn.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, vi } from "vitest";
import { HELLO } from "./gateway.ts";
import { type GatewayProcess, type ProcessOptions, startGatewayProcess } from "./gateway-process.ts";

export interface WorkersGateway extends GatewayProcess {
  /** The processes that have said that they serve, oldest first. */
  workers(): readonly number[];
  /** Resolves when so many have. */
  untilStarted(count: number): Promise<void>;
}

/** For polls: a process needs a second of a processor to start, of which a busy machine gives it a twentieth. */
export const PATIENTLY = { timeout: 300_000, interval: 50 };

/** With two workers where the environment says nothing else. */
export async function startWorkers({ folder, env = {} }: ProcessOptions): Promise<WorkersGateway> {
  const gateway = await startGatewayProcess({
    folder,
    env: { SWITCHYARD_WORKERS: "2", LOG_LEVEL: "debug", ...env },
  });
  const workers = (): readonly number[] =>
    [...(gateway.banner + gateway.output()).matchAll(/"event":"worker.(?:started|replaced)","pid":(\d+)/g)].map(
      (found) => Number(found[1]),
    );
  const untilStarted = (count: number): Promise<void> =>
    vi.waitFor(() => expect(workers().length).toBeGreaterThanOrEqual(count), PATIENTLY);
  await untilStarted(Number.parseInt(env.SWITCHYARD_WORKERS ?? "2", 10));
  return { ...gateway, workers, untilStarted };
}

export interface Asked {
  /** Empty for none. */
  readonly key: string;
  /** Added to a short request, unless the path is another one. */
  readonly body?: object;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client gives up after this long without a byte. */
  readonly patienceMs?: number;
}

/** Rejects when the connection breaks before there is a status. */
export function openFresh({ url }: Pick<GatewayProcess, "url">, asked: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${asked.path ?? "/v1/chat/completions"}`, {
      method: "POST",
      agent: false,
      headers: {
        ...(asked.key === "" ? {} : { authorization: `Bearer ${asked.key}` }),
        "content-type": "application/json",
        ...asked.headers,
      },
    });
    request.once("response", resolve);
    request.on("error", reject);
    if (asked.patienceMs !== undefined)
      request.setTimeout(asked.patienceMs, () => request.destroy(new Error("the client gave up")));
    request.end(JSON.stringify(asked.path === undefined ? { ...HELLO, ...asked.body } : asked.body));
  });
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function askFresh(gateway: Pick<GatewayProcess, "url">, asked: Asked): Promise<Answer> {
  const response = await openFresh(gateway, asked);
  return { status: response.statusCode ?? 0, text: await text(response) };
}

/** The statuses of so many requests, all sent at once. */
export async function statusesOf(
  gateway: Pick<GatewayProcess, "url">,
  asked: Asked,
  count: number,
): Promise<readonly number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => askFresh(gateway, asked)));
  return answers.map(({ status }) => status);
}

/** Whether a process of this number runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
