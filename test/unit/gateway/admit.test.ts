// Admission by key, with keys and limits that answer at once.

import { expect, it } from "vitest";
import type { Verification } from "../../../src/accounts/keys.ts";
import { type AdmissionServices, admit } from "../../../src/gateway/admit.ts";

const ADMITTED = { allowed: true, limit: 60, remaining: 59, resetSeconds: 60, retryAfterSeconds: 0 };

function services(verified: Verification): AdmissionServices {
  return {
    keys: { verify: async () => verified },
    tokens: { isTokenShaped: () => false },
    limiter: { admit: async () => ADMITTED },
    wrongKeys: { waitSeconds: () => 0, note: () => undefined },
    requestsPerMinute: () => 60,
    now: () => 0,
  } as unknown as AdmissionServices;
}

const given = { authorization: "Bearer sk-service-x", apiKey: undefined };

it("does not ask for the address of a caller whose key is known", async () => {
  const known = {
    state: "ok",
    key: { id: "key_1", requestsPerMinute: null },
    profile: null,
  } as unknown as Verification;
  const admitted = await admit({ ...given, address: () => expect.unreachable() }, services(known));
  expect(admitted).toMatchObject({ caller: { key: { id: "key_1" } }, admission: { allowed: true } });
});

it("notes the address that a wrong key came from", async () => {
  const noted: string[] = [];
  const unknown = services({ state: "unknown" });
  const wrongKeys = { waitSeconds: () => 0, note: (address: string) => void noted.push(address) };
  const admitted = admit({ ...given, address: () => "10.0.0.7" }, { ...unknown, wrongKeys });
  await expect(admitted).rejects.toThrow(/not valid/);
  expect(noted).toEqual(["10.0.0.7"]);
});
