// Every error the gateway gives, in one table. An error has a public half (message, code, param), a part for the operator
// (names of providers, commands), and an internal one (cause), which goes to the log only.

export const ERROR_KINDS = {
  badRequest: { status: 400, type: "invalid_request_error" },
  unauthenticated: { status: 401, type: "authentication_error" },
  noCredit: { status: 402, type: "billing_error" },
  forbidden: { status: 403, type: "permission_error" },
  notFound: { status: 404, type: "not_found_error" },
  wrongMethod: { status: 405, type: "invalid_request_error" },
  tooSlow: { status: 408, type: "invalid_request_error" },
  conflict: { status: 409, type: "invalid_request_error" },
  tooLarge: { status: 413, type: "invalid_request_error" },
  wrongMediaType: { status: 415, type: "invalid_request_error" },
  misdirected: { status: 421, type: "invalid_request_error" },
  unprocessable: { status: 422, type: "invalid_request_error" },
  rateLimited: { status: 429, type: "rate_limit_error" },
  headersTooLarge: { status: 431, type: "invalid_request_error" },
  internal: { status: 500, type: "api_error" },
  providersFailed: { status: 503, type: "provider_error" },
  unavailable: { status: 503, type: "provider_error" },
  loop: { status: 508, type: "api_error" },
} as const;

/** The code by which agents know that a shorter conversation would be taken. */
export const TOO_LONG = "context_length_exceeded";

export type ErrorKind = keyof typeof ERROR_KINDS;

export interface ErrorDetails {
  readonly code?: string;
  readonly param?: string;
  /** The message without the client's own words, for the request log where content is not stored. */
  readonly logged?: string;
  /** Sentences that follow the message and that only the operator can act on. Clients get them only on request. */
  readonly operator?: string;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Everything that is wrong with a document, each with its place. */
  readonly problems?: readonly DocumentProblem[];
  readonly cause?: unknown;
}

/** Readers that the messages of `/v1` can be written for. */
export const ERROR_READERS = ["caller", "operator"] as const;
export type ErrorReader = (typeof ERROR_READERS)[number];

interface DocumentProblem {
  readonly place: string;
  readonly message: string;
  readonly suggestion: string | null;
}

export class GatewayError extends Error {
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "GatewayError";
    this.kind = kind;
    this.details = details;
  }

  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }

  get type(): string {
    return ERROR_KINDS[this.kind].type;
  }
}

/** The error as it is sent: the operator's part follows the message only where clients are the operator's own. */
export function writtenFor(reader: ErrorReader, error: GatewayError): GatewayError {
  const { operator } = error.details;
  if (reader === "caller" || operator === undefined) return error;
  return new GatewayError(error.kind, `${error.message} ${operator}`, error.details);
}
