// Puts a prompt that the client keeps into the request that names it, before its codec reads it: routing, money and every
// provider see the whole prompt.

import { GatewayError } from "../../core/errors.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import { type ParsedBody, scanBody } from "../../formats/json/parse.ts";
import { sourceOf } from "../../formats/json/splice.ts";
import type { CachedForm } from "../../formats/stored-form.ts";
import * as TEXT from "../text.ts";
import type { StateServices } from "./services.ts";

/** The body itself where it names nothing of the gateway. */
export async function withCached(
  parsed: ParsedBody,
  { form, accountId }: { readonly form: CachedForm | undefined; readonly accountId: string },
  { caches }: Pick<StateServices, "caches">,
): Promise<ParsedBody> {
  const id = form?.namedIn(parsed.body) ?? null;
  if (form === undefined || id === null) return parsed;
  const prompt = await caches.prompt({ accountId, id });
  if (prompt === null) throw cacheNotFound({ accountId, id }, form);
  const body = form.laidUnder(prompt, parsed.body);
  return { source: scanBody(sourceOf(body).bytes).source, body };
}

export function cacheNotFound({ id }: OwnedId, { nameOf }: Pick<CachedForm, "nameOf">): GatewayError {
  return new GatewayError("notFound", TEXT.cacheNotFound(nameOf(id)), { code: "cached_content_not_found" });
}
