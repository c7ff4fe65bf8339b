// The headers of the Messages format that go to a provider: the version, and the betas a client asked for.

import type { ClientRequest, Outgoing } from "../format.ts";
import { BETA_HEADER } from "./errors.ts";

const VERSIONS: ReadonlySet<unknown> = new Set(["2023-06-01", "2026-10-21"]);
/** The one that knows every field conversion may write. */
const USUAL_VERSION = "2023-06-01";
const BETA = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Goes with the client's own sign-in, which is not what the provider sees. */
const SIGN_IN_BETA = /^oauth-/;

export function anthropicHeaders({ request, refusedFields }: Outgoing): Readonly<Record<string, string>> {
  if (request.format !== "anthropic") return { "anthropic-version": USUAL_VERSION };
  const version = request.headers?.["anthropic-version"]?.trim();
  const betas = refusedFields.includes(BETA_HEADER) ? [] : readBetas(request);
  return {
    "anthropic-version": VERSIONS.has(version) ? (version as string) : USUAL_VERSION,
    ...(betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(",") }),
  };
}

/** From the header, and from the body, where some clients put them. */
function readBetas({ headers, body }: ClientRequest): readonly string[] {
  const named = (headers?.[BETA_HEADER] ?? "").split(",").map((beta) => beta.trim());
  const listed: readonly unknown[] = Array.isArray(body.betas) ? body.betas : [];
  const betas = [...named, ...listed.filter((beta) => typeof beta === "string")];
  return [...new Set(betas)].filter((beta) => BETA.test(beta) && !SIGN_IN_BETA.test(beta));
}
