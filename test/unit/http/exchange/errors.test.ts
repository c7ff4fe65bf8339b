// Whatever is thrown becomes one of our errors, and nothing inner reaches the client.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { toGatewayError } from "../../../../src/http/exchange/errors.ts";

describe("toGatewayError", () => {
  it("leaves our own errors as they are", () => {
    const error = new GatewayError("notFound", "There is none.");
    expect(toGatewayError(error)).toBe(error);
  });

  it.each([
    ["FST_ERR_CTP_BODY_TOO_LARGE", 413, 413],
    ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 415, 415],
    ["FST_ERR_CTP_INVALID_CONTENT_LENGTH", 400, 400],
    ["FST_ERR_BAD_URL", 400, 400],
    ["FST_SOMETHING_NEW", 418, 400],
    ["FST_CLOSING", 503, 503],
    ["ERR_UNKNOWN", 500, 500],
    ["ERR_UNKNOWN", 200, 500],
  ])("makes %s with status %i a %i", (code, statusCode, expected) => {
    const inner = Object.assign(new Error("inner words"), { code, statusCode });
    const error = toGatewayError(inner);
    expect(error.status).toBe(expected);
    expect(error.message).not.toContain("inner");
    expect(error.details.cause).toBe(inner);
  });

  it.each([new Error("secret"), new TypeError("secret"), "secret", { secret: 1 }])(
    "makes %s a 500 that tells nothing",
    (thrown) => {
      const error = toGatewayError(thrown);
      expect(error).toMatchObject({ status: 500, type: "api_error", details: { cause: thrown } });
      expect(error.message).not.toContain("secret");
    },
  );

  it.each([null, undefined])("survives a thrown %s", (thrown) => {
    expect(toGatewayError(thrown).status).toBe(500);
  });
});
