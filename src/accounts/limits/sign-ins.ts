// How often somebody may fail to sign in. Counted before the password is looked at, so that attempts made at once count
// too; a success takes its own count back.

export interface Attempts {
  /** Counted under every name when it may be made. */
  begin(limits: readonly AttemptLimit[]): Attempt | Promise<Attempt>;
}

export interface Attempt {
  /** 0 when it may be made. */
  readonly waitSeconds: number;
  /** It was a success. */
  forgive(): void;
}

export interface AttemptLimit {
  /** Who or where it comes from. */
  readonly name: string;
  readonly most: number;
}

export const ATTEMPT_WINDOW_MS = 5 * 60_000;
const NAMES_MAX = 20_000;

interface Count {
  count: number;
  readonly endsAtMs: number;
}

export interface LocalAttempts extends Attempts {
  begin(limits: readonly AttemptLimit[]): Attempt;
}

/** Too many: nothing was counted that a success could take back. */
export function refusedFor(waitSeconds: number): Attempt {
  return { waitSeconds, forgive: () => undefined };
}

export function createAttempts(now: () => number): LocalAttempts {
  /** In the order of insertion, which is the order of ending. */
  const counts = new Map<string, Count>();
  const current = (name: string): Count | null => {
    const known = counts.get(name);
    if (known === undefined || known.endsAtMs > now()) return known ?? null;
    counts.delete(name);
    return null;
  };
  const forgive = (limits: readonly AttemptLimit[]): void => {
    for (const { name } of limits) {
      const known = current(name);
      if (known !== null) known.count -= 1;
    }
  };
  return {
    begin(limits) {
      const full = limits.map(({ name, most }) => ({ known: current(name), most }));
      const endsAtMs = full.map(({ known, most }) => (known !== null && known.count >= most ? known.endsAtMs : 0));
      const waitMs = Math.max(...endsAtMs) - now();
      if (waitMs > 0) return refusedFor(Math.ceil(waitMs / 1000));
      for (const { name } of limits) {
        const known = current(name);
        if (known === null) counts.set(name, { count: 1, endsAtMs: now() + ATTEMPT_WINDOW_MS });
        else known.count += 1;
      }
      for (const name of counts.keys()) {
        if (counts.size <= NAMES_MAX) break;
        counts.delete(name);
      }
      return { waitSeconds: 0, forgive: () => forgive(limits) };
    },
  };
}
