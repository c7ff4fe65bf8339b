// What every error answer must look like, whatever its cause.

import { expect } from "vitest";

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string | null;
    readonly param: string | null;
    readonly request_id: string;
  };
}

export interface ExpectedError {
  readonly status: number;
  readonly type?: string;
  readonly code?: string | null;
  readonly param?: string | null;
}

/** Checks status and shape and returns the error for a closer look. */
export async function expectError(answer: Response, expected: ExpectedError): Promise<ErrorBody["error"]> {
  const text = await answer.text();
  expect({ status: answer.status, text }).toMatchObject({ status: expected.status });
  expect(answer.headers.get("content-type")).toContain("application/json");
  const { error } = JSON.parse(text) as ErrorBody;
  expect(Object.keys(error)).toEqual(["message", "type", "code", "param", "request_id"]);
  expect(error.message.length).toBeGreaterThan(5);
  expect(error.message).not.toMatch(/\n|node_modules|\.ts\b|at .*:\d+/);
  expect(error.request_id).toBe(answer.headers.get("x-request-id"));
  const { status: _, ...fields } = expected;
  expect(error).toMatchObject({ type: TYPES[expected.status] ?? "api_error", ...fields });
  return error;
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  409: "invalid_request_error",
  413: "invalid_request_error",
  415: "invalid_request_error",
  422: "invalid_request_error",
  429: "rate_limit_error",
  503: "provider_error",
};
