// The reason why a sign-in with an identity provider failed. The gateway names it in the address it comes back to.

import { place } from "../router.ts";
import * as TEXT from "./text.ts";

/** The reason in words; null where the address names none. */
export function signInProblem(): string | null {
  const [path, query] = place.value.hash.slice(1).split("?");
  const code = path === "/sign-in" ? new URLSearchParams(query).get("problem") : null;
  if (code === null) return null;
  return TEXT.SIGN_IN_PROBLEMS[code] ?? TEXT.signInFailed;
}
