// Writes a request to an endpoint other than chat: the client's own bytes with the provider's name of the model.

import type { Endpoint } from "../../core/model.ts";
import { unconvertible } from "../convert/conversion.ts";
import type { Outgoing, ProviderFormat, ProviderRequest } from "../format.ts";
import { spliceBody } from "../json/splice.ts";
import { isControlField } from "../service/controls.ts";

/** Throws where providers of that format have no such endpoint. */
export function writeEndpointRequest(
  { request, model, refusedFields }: Outgoing,
  endpoint: Endpoint,
  { endpoints = {} }: Pick<ProviderFormat, "endpoints">,
): ProviderRequest {
  const path = endpoints[endpoint];
  if (path === undefined) throw unconvertible([`its provider has no endpoint for ${endpoint}`]);
  const given = Object.keys(request.body);
  const droppedFields = given.filter((name) => model.dialect.refuses.includes(name) || refusedFields.includes(name));
  const changes = new Map<string, string | null>([["model", JSON.stringify(model.upstream)]]);
  for (const name of [...droppedFields, ...given.filter(isControlField)]) changes.set(name, null);
  return { path, body: spliceBody(request.source, changes), droppedFields };
}
