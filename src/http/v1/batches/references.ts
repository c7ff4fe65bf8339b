// Prompts and files of the gateway that a request names: their content takes the place of their names, so that every model
// can read them.

import type { StoredFile } from "../../../core/batches/files.ts";
import { GatewayError } from "../../../core/errors.ts";
import type { NamedFile } from "../../../formats/file-references.ts";
import type { CallFormat } from "../../../formats/format.ts";
import { type ParsedBody, parseBody } from "../../../formats/json/parse.ts";
import { spliceFields } from "../../../formats/json/splice.ts";
import { withCached } from "../../../gateway/state/cached.ts";
import type { CallContext } from "../../context.ts";
import * as TEXT from "../../text.ts";

/** Bytes of base64 for each byte of a file. */
const BASE64 = 4 / 3;
/** Files that a request may name. Each is looked up. */
const FILES_MAX = 3_000;

interface KeptRequest {
  readonly format: CallFormat;
  readonly accountId: string;
}

/** The body with what its client keeps here for it: a prompt, and files. The same body where it names nothing. */
export async function withKept(
  sent: ParsedBody,
  asking: KeptRequest,
  edge: Pick<CallContext, "batches" | "settings" | "state">,
): Promise<ParsedBody> {
  const { format, accountId } = asking;
  const form = format.endpoint === undefined ? format.cached : undefined;
  const whole = form === undefined ? sent : await withCached(sent, { form, accountId }, edge.state);
  return withFileContents(whole, asking, edge);
}

async function withFileContents(
  parsed: ParsedBody,
  { format, accountId }: KeptRequest,
  { batches: { files }, settings }: Pick<CallContext, "batches" | "settings">,
): Promise<ParsedBody> {
  const references = format.endpoint === undefined ? format.fileReferences : undefined;
  if (references?.mayHave(parsed.source) !== true) return parsed;
  const { body } = parseBody(parsed.source.bytes);
  const named = new Map<string, StoredFile | null>();
  let length = parsed.source.bytes.length;
  // Before one of them is read: a short request may name a long file many times.
  for (const id of references.find(body)) {
    if (named.size >= FILES_MAX && !named.has(id)) throw tooLong(TEXT.tooManyFiles(FILES_MAX));
    const known = named.get(id);
    const file = known === undefined ? await files.find({ accountId, id }) : known;
    named.set(id, file);
    if (file !== null) length += Math.ceil(file.bytes * BASE64);
    const limit = settings.server.bodyLimitBytes;
    if (length > limit) throw tooLong(TEXT.filesTooLong(limit));
  }
  const contents = new Map<string, NamedFile>();
  for (const [id, file] of named) {
    if (file === null) continue;
    const pieces: Buffer[] = [];
    for await (const piece of files.read(file)) pieces.push(piece);
    contents.set(id, { mimeType: file.mimeType, base64: Buffer.concat(pieces).toString("base64") });
  }
  return contents.size === 0 ? parsed : parseBody(spliceFields(parsed.source, references.write(body, contents)));
}

function tooLong(message: string): GatewayError {
  return new GatewayError("tooLarge", message, { code: "files_too_long" });
}
