// Calls that hand batches over to a provider that runs them, and get the answers.

import { Cancellation } from "../core/cancellation.ts";
import type { JsonObject } from "../formats/json/fields.ts";
import { parseObject } from "../formats/json/parse.ts";
import { FormBody } from "../formats/media/upload.ts";
import type { NativeBatches, NativeRequest } from "../formats/native-batches.ts";
import type { Registry } from "./registry.ts";
import type { ReplyBody, TransportRequest } from "./transport.ts";

const EMPTY = Buffer.alloc(0);
const OBJECT_BYTES_MAX = 1024 * 1024;
/** Longer than any answer of a model. */
const RESULT_BYTES_MAX = 32 * 1024 * 1024;
const NOT_FOUND = 404;

interface HostCall extends Pick<TransportRequest, "method" | "path" | "body" | "headers"> {}

/** Calls of one provider, with its first key: other keys may not see its files. */
export interface NativeClient {
  readonly batches: NativeBatches;
  /** Returns the id of the batch at the host. */
  begin(path: string, requests: readonly NativeRequest[]): Promise<string>;
  /** Resolves to null where the host does not know the batch any more. */
  state(id: string): Promise<ReturnType<NativeBatches["readState"]> | null>;
  cancel(id: string): Promise<void>;
  results(path: string): AsyncGenerator<{ readonly key: string; readonly body: string }, void, void>;
}

/** Returns null for a provider that is not configured any more, or runs no batches. */
export function nativeClientOf(providerId: string, registry: Registry): NativeClient | null {
  const connection = registry.find(providerId);
  const batches = connection?.format.batches;
  if (connection === undefined || batches === undefined) return null;
  const { transport, redact } = connection;
  const send = async (call: HostCall) => {
    const headers = { ...batches.headers, ...call.headers };
    const reply = await transport.send({ ...call, headers, isStream: false, signal: new Cancellation() });
    if (!reply.ok) throw new Error(redact(`${providerId} did not answer: ${reply.failure.message}`));
    return reply;
  };
  const object = async (call: HostCall): Promise<JsonObject | null> => {
    const { status, body } = await send(call);
    const bytes = await readShort(body);
    if (status === NOT_FOUND) return null;
    const read = status >= 200 && status < 300 ? parseObject(bytes ?? EMPTY) : null;
    if (read === null) throw new Error(redact(`${providerId} answered ${status}: ${String(bytes).slice(0, 300)}`));
    return read;
  };
  const idOf = (made: JsonObject | null): string => {
    if (typeof made?.id === "string" && made.id !== "") return made.id;
    throw new Error(`${providerId} named no id`);
  };
  return {
    batches,
    async begin(path, requests) {
      const upload = batches.upload?.(path, requests);
      let fileId: string | null = null;
      if (upload !== undefined) {
        const body = new FormBody(upload.form);
        fileId = idOf(await object({ path: upload.path, body, headers: { "content-type": body.contentType } }));
      }
      const { path: at, body } = batches.create(path, { requests, fileId });
      return idOf(
        await object({ path: at, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }),
      );
    },
    async state(id) {
      const found = await object({ method: "GET", path: batches.show(id), body: EMPTY });
      return found === null ? null : batches.readState(found);
    },
    cancel: (id) => object({ path: batches.cancel(id), body: Buffer.from("{}") }).then(() => undefined),
    async *results(path) {
      const { status, body } = await send({ method: "GET", path, body: EMPTY });
      if (status !== 200) throw new Error(`${providerId} answered ${status} to a request for results`);
      for await (const line of linesOf(body)) {
        const read = parseObject(line);
        const result = read === null ? null : batches.readResult(read);
        if (result !== null) yield result;
      }
      if (body.failure !== null)
        throw new Error(redact(`${providerId} interrupted its answer: ${body.failure.message}`));
    },
  };
}

async function* linesOf(body: ReplyBody): AsyncGenerator<Buffer, void, void> {
  let rest: Buffer = EMPTY;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    rest = Buffer.concat([rest, piece]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > RESULT_BYTES_MAX) throw new Error("a result is longer than any answer");
  }
  // A line that was cut off is no JSON.
  if (rest.length > 0 && body.failure === null) yield rest;
}

/** Reads a short body. Null for one that is longer than any that is expected. */
async function readShort(body: ReplyBody): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    pieces.push(piece);
    length += piece.length;
    if (length <= OBJECT_BYTES_MAX) continue;
    body.cancel();
    return null;
  }
  return Buffer.concat(pieces, length);
}
