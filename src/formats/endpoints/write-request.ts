// Writes a request to an endpoint other than chat: the client's own bytes with the provider's name of the model. A form with
// files is written again, since its files may lie on disk.

import { unconvertible } from "../convert/conversion.ts";
import type { ClientRequest, Outgoing, PassThrough, ProviderFormat, ProviderRequest } from "../format.ts";
import { spliceBody } from "../json/splice.ts";
import { FormBody, type Upload } from "../media/upload.ts";
import { isControlField } from "../service/controls.ts";

/** New values of fields, and null for those that are left out. */
type FieldValues = ReadonlyMap<string, unknown>;

/** Throws where providers of that format have no such endpoint. */
export function writeEndpointRequest(
  { request, model, refusedFields }: Omit<Outgoing, "request"> & { readonly request: ClientRequest },
  { endpoint, providerPath, headers, added }: PassThrough,
  { endpoints = {} }: Pick<ProviderFormat, "endpoints">,
): ProviderRequest {
  const known = endpoints[endpoint];
  if (known === undefined) throw unconvertible([`its provider has no endpoint for ${endpoint}`]);
  if (typeof known !== "string") return known.write(request, model);
  const path = providerPath ?? known;
  const given = Object.keys(request.body);
  const isRefused = (name: string): boolean => model.dialect.refuses.includes(name) || refusedFields.includes(name);
  const droppedFields = given.filter(isRefused);
  const values = new Map<string, unknown>([["model", model.upstream]]);
  for (const [name, value] of Object.entries(added?.(request, model) ?? {})) {
    if (!isRefused(name)) values.set(name, value);
  }
  for (const name of [...droppedFields, ...given.filter((name) => isControlField(name, request.body[name]))])
    values.set(name, null);
  if (request.upload !== undefined) {
    const body = new FormBody(changedForm(request.upload, values));
    return { path, body, droppedFields, headers: { ...headers, "content-type": body.contentType } };
  }
  const changes = new Map([...values].map(([name, value]) => [name, value === null ? null : JSON.stringify(value)]));
  const written = { path, body: spliceBody(request.source, changes), droppedFields };
  return headers === undefined ? written : { ...written, headers };
}

/** A changed field keeps its place, and a new one goes to the end. */
function changedForm({ fields, files }: Upload, values: FieldValues): Upload {
  const kept = fields.flatMap(([name, value]) => {
    const change = values.get(name.replace(/\[\]$/, ""));
    return change === null ? [] : [[name, change === undefined ? value : String(change)] as const];
  });
  const names = new Set(fields.map(([name]) => name));
  const added = [...values].filter(([name, value]) => value !== null && !names.has(name));
  return { fields: [...kept, ...added.map(([name, value]) => [name, String(value)] as const)], files };
}
