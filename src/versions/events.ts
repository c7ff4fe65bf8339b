// Log lines about events of versions. Every worker sees the same events, so one process logs for all of them and skips
// repeats.

import type { Checked } from "../config/settings.ts";
import type { Log } from "../core/log.ts";

export type Problems = Extract<Checked, { ok: false }>["problems"];

export type VersionEvent =
  /** This process serves with a version that another one published. Not at the start. */
  | { readonly kind: "followed"; readonly version: number; readonly delayMs: number }
  | { readonly kind: "unusable"; readonly version: number; readonly problems: Problems }
  | { readonly kind: "keyUnreadable"; readonly version: number; readonly provider: string }
  | { readonly kind: "reloadFailed"; readonly error: unknown }
  | { readonly kind: "reloadRecovered" };

export interface VersionLog {
  /** `from` is any value that stands for the process. */
  write(event: VersionEvent, from?: unknown): void;
  /** The process has ended. */
  forget(from: unknown): void;
}

export function createVersionLog(log: Log): VersionLog {
  /** Newest version of each subject that the log has a line about. */
  const written = new Map<string, number>();
  /** Processes that cannot read versions. */
  const failing = new Set<unknown>();

  function isNew(subject: string, version: number): boolean {
    if (version <= (written.get(subject) ?? 0)) return false;
    written.set(subject, version);
    return true;
  }

  function recovered(from: unknown): void {
    if (failing.delete(from) && failing.size === 0)
      log.info({ event: "config.reload_recovered" }, "configuration versions can be read again");
  }

  return {
    forget: recovered,
    write(event, from) {
      switch (event.kind) {
        case "followed": {
          const { version, delayMs } = event;
          const fields = { event: "config.followed", version, delayMs } as const;
          if (isNew(event.kind, version)) log.info(fields, "serving with a version that another process published");
          return;
        }
        case "unusable": {
          const { version, problems } = event;
          const fields = { event: "config.version_unusable", version, problems } as const;
          if (isNew(event.kind, version))
            log.error(fields, "a configuration version cannot be used; an older one serves");
          return;
        }
        case "keyUnreadable": {
          const { version, provider } = event;
          const fields = { event: "config.key_unreadable", provider } as const;
          if (isNew(`key ${provider}`, version)) log.error(fields, "a provider's key was sealed with another secret");
          return;
        }
        case "reloadFailed": {
          const fields = { event: "config.reload_failed", err: event.error } as const;
          if (failing.size === 0) log.warn(fields, "configuration versions cannot be read; the last one serves");
          failing.add(from);
          return;
        }
        case "reloadRecovered":
          return recovered(from);
      }
    },
  };
}
