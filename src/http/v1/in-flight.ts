// How many requests of a key are being served: one key may not take all the places there are.

import { GatewayError } from "../../core/errors.ts";

export interface InFlight {
  /** Takes a place and gives the function that leaves it; throws when the key has none left. */
  enter(keyId: string): () => void;
}

export function createInFlight(most: number): InFlight {
  const counts = new Map<string, number>();
  return {
    enter(keyId) {
      const count = counts.get(keyId) ?? 0;
      if (count >= most) throw tooManyAtOnce(most);
      counts.set(keyId, count + 1);
      return () => {
        const left = (counts.get(keyId) ?? 1) - 1;
        if (left === 0) counts.delete(keyId);
        else counts.set(keyId, left);
      };
    },
  };
}

function tooManyAtOnce(most: number): GatewayError {
  const message = `This key has ${most} requests running, which is its limit. Wait until one of them has ended.`;
  return new GatewayError("rateLimited", message, { code: "too_many_in_flight", retryAfterSeconds: 1 });
}
