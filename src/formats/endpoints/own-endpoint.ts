// The port to an endpoint that a provider's format has in a form of its own.

import type { HostedModel } from "../../core/model.ts";

export interface OwnEndpoint<Asked, Written> {
  /** Throws `unconvertible` when the request cannot be said in that form. */
  write(request: Asked, model: HostedModel): Written;
  /** The answer in the form that clients know; null where it is none. */
  read(bytes: Buffer, headers: AnswerHeaders): Buffer | null;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
