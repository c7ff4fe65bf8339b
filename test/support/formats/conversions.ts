// What conversions say of a request, in words alone, for tests that are not about the codes.

import type { ProviderRequest } from "../../../src/formats/format.ts";

export function wordsOf({ conversions }: Pick<ProviderRequest, "conversions">): readonly string[] | undefined {
  return conversions?.map(({ message }) => message);
}
