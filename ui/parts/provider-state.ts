// Failures of a provider that count now, of all that its health remembers.

import type { HealthState, Provider } from "../types.ts";

/** The failures to name: of the key, or of the provider where these came later. Null while the key is not refused. */
export function alarmOf({ credential, health }: Pick<Provider, "credential" | "health">): Alarm | null {
  if (!isFailing(credential)) return null;
  const isLater = isFailing(health) && Date.parse(health.lastErrorAt ?? "") > Date.parse(credential.lastErrorAt ?? "");
  return isLater ? { isOfKey: false, error: health.lastError } : { isOfKey: true, error: credential.lastError };
}

interface Alarm {
  readonly isOfKey: boolean;
  readonly error: string | null;
}

function isFailing(health: HealthState | null): health is HealthState {
  return health !== null && health.consecutiveFailures > 0;
}
