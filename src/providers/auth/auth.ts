// The sign-in to one provider, as requests meet it.

import type { SignInState } from "../../core/model.ts";

export type AuthHeaders = Readonly<Record<string, string>>;

/** A request as it is about to be sent, without what the scheme adds. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** The sign-in to one provider. */
export type Auth =
  | { readonly form: "fixed"; readonly headers: AuthHeaders }
  | {
      readonly form: "each";
      /** True if a request that got 401 is worth a retry with other headers. */
      readonly isRenewable: boolean;
      /** `refused`: the headers that just got 401. */
      headersFor(request: UnsignedRequest, refused: AuthHeaders | null): Promise<AuthHeaders>;
      /** Secrets beside those of the configuration that must not appear in an error. */
      secrets(): readonly string[];
      /** Returns null where nothing ends, or before the first request. */
      state(): SignInState | null;
      /** Asks the cloud who it sees. Absent where the credentials tell it, or nothing does. */
      identify?(signal: AbortSignal): Promise<string>;
    };
