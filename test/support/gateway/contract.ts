// The contract, held against live responses: every /api response that a test receives is checked against its schema.

import { Compile } from "typebox/schema";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";

interface Media {
  readonly schema: object;
}

const { paths, components } = openapiDocument();
const patterns = Object.keys(paths).map((path) => ({
  path,
  // A fixed path comes before one with a parameter, as in the router.
  weight: path.split("{").length,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));
patterns.sort((a, b) => a.weight - b.weight);

const validators = new Map<object, ReturnType<typeof Compile>>();
const checked = new Set<string>();

/** The operations of /api whose successful JSON responses were checked so far, as `GET /api/keys`. */
export function checkedOperations(): ReadonlySet<string> {
  return checked;
}

/** Where a value breaks a schema whose references point into the document. */
function problemsOf(schema: object, value: unknown): readonly unknown[] {
  const validator = validators.get(schema) ?? Compile({ components, allOf: [schema] });
  validators.set(schema, validator);
  return validator.Check(value) ? [] : validator.Errors(value)[1];
}

/** Returns the response, or throws when its status or its JSON breaks the contract. */
export async function keepingContract(method: string, url: string, response: Response): Promise<Response> {
  const place = url.split("?")[0] as string;
  const path = patterns.find(({ pattern }) => pattern.test(place))?.path ?? "";
  const operation = paths[path]?.[method.toLowerCase()];
  const listed = operation?.responses[String(response.status)];
  if (operation !== undefined && listed === undefined) {
    throw new Error(`${method} ${url} answers ${response.status}, which the contract does not list`);
  }
  const media = (listed?.content as Record<string, Media> | undefined)?.["application/json"];
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  if (media === undefined || !isJson || !place.startsWith("/api/")) return response;
  const problems = problemsOf(media.schema, await response.clone().json());
  if (problems.length > 0) {
    throw new Error(`${method} ${url} ${response.status} breaks the contract: ${JSON.stringify(problems.slice(0, 3))}`);
  }
  if (response.ok) checked.add(`${method} ${path}`);
  return response;
}
