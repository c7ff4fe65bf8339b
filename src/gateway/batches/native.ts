// Lines of batches that hosts run at a lower price: which lines they are, and the calls that hand them over and get the
// answers. An answer is charged later, like any other: by the run of its line.

import type { NativeHost } from "../../core/batches/batches.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { effortOf } from "../../core/decision.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import type { RateCard } from "../../core/price.ts";
import { writeProviderRequest } from "../../formats/bridge.ts";
import { inOnePiece } from "../../formats/json/byte-pieces.ts";
import type { JsonObject } from "../../formats/json/fields.ts";
import { parseObject } from "../../formats/json/parse.ts";
import { FormBody } from "../../formats/media/upload.ts";
import type { NativeBatches, NativeRequest } from "../../formats/native-batches.ts";
import type { ReplyBody, TransportRequest } from "../../providers/transport.ts";
import { hostedModelsOf } from "../../routing/hosts.ts";
import { readAll } from "../attempt/try-model.ts";
import { planCascadeOf, prepared, route } from "../complete.ts";
import { constraintsOf } from "../constraints.ts";
import type { Services } from "../services.ts";
import type { QuotedCall } from "./quote.ts";

/** A line as its host would get it. */
export interface Sendable {
  readonly host: NativeHost;
  readonly provider: string;
  readonly path: string;
  readonly body: string;
}

const EMPTY = Buffer.alloc(0);
const OBJECT_BYTES_MAX = 1024 * 1024;
/** Longer than any answer of a model. */
const RESULT_BYTES_MAX = 32 * 1024 * 1024;
const NOT_FOUND = 404;

/** Returns null for a line that is better run by our own queue: no host runs it in a batch, or not for less. */
export function sendable(received: QuotedCall, services: Services): Sendable | null {
  const { format } = received;
  if (format.endpoint !== undefined) return null;
  try {
    const call = prepared(received, services);
    const { chat } = call.request;
    if (chat.serviceTier !== undefined || chat.ownSearches !== undefined || asksForNoRetention(call, services))
      return null;
    const decision = route(call, services);
    if (planCascadeOf(call, decision, services)?.state === "planned") return null;
    const model = hostedModelsOf(decision, services.catalog)[0] as HostedModel;
    const { provider, format: usual, formatFor } = services.registry.connection(model.provider);
    if (provider.hasBatches !== true || usual.batches === undefined || !isCheaper(model.price)) return null;
    const effort = effortOf(decision, model.id);
    const terms = { model, refusedFields: [], effort };
    const { path, body } = writeProviderRequest(
      { format, request: call.request },
      formatFor(model, format.name),
      terms,
    );
    if (body instanceof FormBody) return null;
    const host = { model: model.id, host: model.host, price: model.price as RateCard };
    return { host, provider: model.provider, path, body: inOnePiece(body).toString("utf8") };
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

/** The vendor of a batch keeps its requests and answers until somebody deletes them. */
function asksForNoRetention({ request, caller }: QuotedCall, { catalog }: Services): boolean {
  const constraints = constraintsOf(caller, catalog);
  const all = [request.controls, constraints, ...(constraints.required ?? [])];
  return all.some((rules) => "zeroRetention" in rules && rules.zeroRetention === true);
}

function isCheaper(card: RateCard | null): boolean {
  const batch = card?.tiers?.batch;
  return card !== null && batch !== undefined && batch.input + batch.output < card.input + card.output;
}

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
export function nativeClientOf(providerId: string, { registry }: Pick<Services, "registry">): NativeClient | null {
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
    const bytes = await readAll(body, OBJECT_BYTES_MAX);
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
