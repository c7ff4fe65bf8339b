// Lines of batches on their way in: read from a file, and quoted before the batch may begin.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { BatchError, LineRequest } from "../../../core/batches/batches.ts";
import { GatewayError } from "../../../core/errors.ts";
import { LINES_MAX, MESSAGE_HEADERS, MESSAGES_PATH, readLine } from "../../../formats/endpoints/batches.ts";
import type { CallFormat, RequestTarget } from "../../../formats/format.ts";
import { parseBody, scanBody } from "../../../formats/json/parse.ts";
import { spliceFields } from "../../../formats/json/splice.ts";
import { rawValue } from "../../../formats/scan/scan.ts";
import { type LineQuote, NO_QUOTE, quoteLine } from "../../../gateway/batches/quote.ts";
import type { Caller } from "../../../gateway/call.ts";
import { expand } from "../../../gateway/state/expand.ts";
import { readState } from "../../../gateway/state/read-state.ts";
import type { CallContext } from "../../context.ts";
import * as TEXT from "../../text.ts";
import { withKept } from "./references.ts";

const ERRORS_MAX = 100;
/** Files end in empty lines, and some have one behind each line. A file of nothing else takes long to read. */
const EMPTY_MAX = 2 * LINES_MAX;
const HOST_ORDER = "service_host_order";
/** Lines that are quoted before other requests get a turn. */
const QUOTED_AT_ONCE = 8;

/** The body of a line as it is run: at the cheapest host, unless it says otherwise. */
export function bodyOfLine({ body }: LineRequest): Buffer {
  const { source } = scanBody(Buffer.from(body));
  const cheapest = rawValue(source, HOST_ORDER) === null ? [[HOST_ORDER, '"cheapest"'] as const] : [];
  return spliceFields(source, new Map(cheapest));
}

export interface LineReading {
  readonly endpoint: string;
  readonly errors: BatchError[];
  readonly lineBytes: number;
  /** Reads a line; an error where it is no request that can run. */
  readonly read?: typeof readLine;
}

/** The requests of a file. What is wrong with a line becomes an error. */
export async function* readLines(
  file: AsyncIterable<Buffer>,
  { endpoint, errors, lineBytes, read: readOne = readLine }: LineReading,
): AsyncGenerator<LineRequest> {
  const known = new Set<string>();
  let number = 0;
  for await (const bytes of linesOf(file, lineBytes)) {
    number += 1;
    const isEmpty = bytes !== null && bytes.toString("latin1").trim() === "";
    if (isEmpty && number <= EMPTY_MAX) continue;
    const read = bytes === null ? TOO_LONG : readOne(bytes, endpoint);
    if (isEmpty || known.size >= LINES_MAX) {
      errors.push({ code: "too_many_lines", message: TEXT.tooManyLines(LINES_MAX), line: number, param: null });
      return;
    }
    if (!("customId" in read)) errors.push({ ...read, line: number });
    else if (known.has(read.customId)) errors.push({ ...DUPLICATE, line: number });
    else {
      known.add(read.customId);
      if (errors.length === 0) yield read;
    }
    if (errors.length >= ERRORS_MAX || bytes === null) return;
  }
  if (known.size === 0 && errors.length === 0)
    errors.push({ code: "empty_file", message: TEXT.emptyFile, line: null, param: null });
}

const TOO_LONG = { code: "line_too_long", message: "This line is longer than a request may be.", param: null };
const DUPLICATE = { code: "duplicate_custom_id", message: "Two lines have the same 'custom_id'.", param: "custom_id" };

/** Yields null for a line that is too long, behind which nothing more is read. */
async function* linesOf(file: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer | null> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const piece of file) {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      yield Buffer.concat([...kept, piece.subarray(from, end)]);
      kept = [];
      length = 0;
      from = end + 1;
    }
    kept.push(piece.subarray(from));
    length += piece.length - from;
    if (length > most) {
      yield null;
      return;
    }
  }
  if (length > 0) yield Buffer.concat(kept);
}

type QuoteContext = Pick<CallContext, "formats" | "services" | "state" | "batches" | "settings">;

export interface LineQuoter {
  /** Sum of what all lines so far may cost. */
  readonly sum: LineQuote;
  add(line: LineRequest): Promise<void>;
}

/** Adds up what the lines of a batch may cost, each as its request would be quoted now. */
export function createQuoter(endpoint: string, caller: Caller, edge: QuoteContext): LineQuoter {
  const { format, target } = placeOf(endpoint, edge);
  const services = edge.services();
  let { most, least } = NO_QUOTE;
  let count = 0;
  return {
    get sum() {
      return { most, least };
    },
    async add(line) {
      const quote = await readToQuote(line, { format, target, caller }, edge).then(
        (call) => quoteLine(call, services),
        refusedLater,
      );
      most += quote.most;
      least += quote.least;
      count += 1;
      if (count % QUOTED_AT_ONCE === 0) await nextTurn();
    },
  };
}

function refusedLater(error: unknown): LineQuote {
  if (error instanceof GatewayError) return NO_QUOTE;
  throw error;
}

interface LinePlace {
  readonly format: CallFormat;
  readonly target: RequestTarget | undefined;
}

/** The format that is spoken at the path of a batch, and the model where the path names it. */
export function placeOf(endpoint: string, { formats }: Pick<QuoteContext, "formats">): LinePlace {
  for (const { path, format } of formats.routes) {
    if (path === endpoint) return { format, target: undefined };
    const [before = "", after] = path.split("{model}");
    if (after === undefined || !endpoint.startsWith(before) || !endpoint.endsWith(after)) continue;
    const model = decodeURIComponent(endpoint.slice(before.length, endpoint.length - after.length));
    return { format, target: { model, isStream: false, framing: "json-array" } };
  }
  throw new Error(`no lines can be sent to ${endpoint}`);
}

export async function readToQuote(
  line: LineRequest,
  { format, target, caller }: LinePlace & { readonly caller: Caller },
  edge: QuoteContext,
) {
  const { accountId } = caller.key;
  const sent = await withKept(parseBody(bodyOfLine(line)), { format, accountId }, edge);
  const parsed =
    format.endpoint === undefined && format.stored !== undefined
      ? await expand(sent, { accountId, fields: readState(sent.body) }, edge.state)
      : sent;
  const headers = format.paths.routes.some(({ path }) => path === MESSAGES_PATH) ? MESSAGE_HEADERS : {};
  return { format, caller, headers, request: format.readRequest(parsed.source, parsed.body, { headers, target }) };
}
