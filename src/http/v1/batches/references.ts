// Prompts and files of the gateway that a request names: their content takes the place of their names, so that every model
// can read them.

import { GatewayError } from "../../../core/errors.ts";
import type { NamedFile } from "../../../formats/file-references.ts";
import type { CallFormat } from "../../../formats/format.ts";
import { type ParsedBody, parseBody } from "../../../formats/json/parse.ts";
import { spliceFields } from "../../../formats/json/splice.ts";
import { withCached } from "../../../gateway/state/cached.ts";
import type { CallContext } from "../../context.ts";
import * as TEXT from "../../text.ts";

/** Ids of other forms may be known to the provider. */
const OWN_ID = /^file-[0-9a-f]{32}$/;
const MISSING = { code: "file_not_found" };
/** Bytes of base64 for each byte of a file. */
const BASE64 = 4 / 3;

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
  const contents = new Map<string, NamedFile>();
  let length = parsed.source.bytes.length;
  for (const id of references.find(body)) {
    const file = await files.find({ accountId, id });
    if (file === null && OWN_ID.test(id)) throw new GatewayError("badRequest", TEXT.fileNotFound(id), MISSING);
    if (file === null) continue;
    length += Math.ceil(file.bytes * BASE64);
    const limit = settings.server.bodyLimitBytes;
    if (length > limit) throw new GatewayError("tooLarge", TEXT.filesTooLong(limit), { code: "files_too_long" });
    const pieces: Buffer[] = [];
    for await (const piece of files.read(file)) pieces.push(piece);
    contents.set(id, { name: file.name, mimeType: file.mimeType, base64: Buffer.concat(pieces).toString("base64") });
  }
  return contents.size === 0 ? parsed : parseBody(spliceFields(parsed.source, references.write(body, contents)));
}
