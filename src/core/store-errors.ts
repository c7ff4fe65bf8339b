// Errors of the store. Services tell the cases apart without knowing which database it is.

import { GatewayError } from "./errors.ts";

/** The database cannot be reached, is full or is read-only. Whether a write was committed is unknown, unless it was never sent. */
export class StoreUnavailable extends GatewayError {
  readonly isUnsent: boolean;

  constructor(cause: unknown, { isUnsent = false } = {}) {
    super("unavailable", "The service's database is not available at the moment. Try again shortly.", {
      code: "database_unavailable",
      retryAfterSeconds: 1,
      cause,
    });
    this.name = "StoreUnavailable";
    this.isUnsent = isUnsent;
  }
}

/** The file may not be used as it is. Callers learn no more than that it is not available. */
export class StoreUnusable extends StoreUnavailable {
  /** For the operator: what is wrong, and what to do. */
  readonly advice: string;

  constructor(advice: string, cause: unknown = undefined) {
    super(cause);
    this.name = "StoreUnusable";
    this.advice = advice;
  }
}

/** Writes a command as it is typed in this installation. */
type CommandText = (args: string) => string;

/** The file holds what its database cannot have written. */
export class StoreDamaged extends StoreUnusable {
  constructor(path: string, cause: Error, command: CommandText) {
    super(
      `${path} is damaged (${cause.message}). Nothing was changed. Restore a backup of it with ` +
        `'${command("restore FILE")}', or move it and its -wal away to start with an empty one.`,
      cause,
    );
    this.name = "StoreDamaged";
  }
}

/** Commits that a SQLite file had acknowledged and no longer holds. */
export interface StoreLoss {
  readonly commits: number;
  readonly transactions: number;
  /** Says that the file has as many commits as expected, but of another history. */
  readonly isForeign: boolean;
}

/** The file lacks commits that its witness saw. */
export class StoreBehind extends StoreUnusable {
  readonly loss: StoreLoss;

  constructor(path: string, loss: StoreLoss, command: CommandText) {
    super(
      `${path} ${describeLoss(loss)}. Nothing was changed. Put the right file back, restore a backup with ` +
        `'${command("restore FILE")}', or give up what is missing with '${command("ledger accept-loss")}'.`,
    );
    this.name = "StoreBehind";
    this.loss = loss;
  }
}

/** The secret is not the one that texts in the database are sealed with. */
export class OtherSecret extends StoreUnusable {
  constructor(what: string, command: CommandText) {
    super(
      `${what}. Nothing was changed. Start with the SWITCHYARD_SECRET, or the secret.key in the data folder, of the ` +
        "gateway that uses this database. If it is lost or to be replaced, stop every gateway and run " +
        `'${command("secret replace")}'.`,
    );
    this.name = "OtherSecret";
  }
}

function describeLoss({ commits, transactions, isForeign }: StoreLoss): string {
  if (isForeign) return "holds another history than the one that was written to it";
  return (
    `is older than what was written to it: ${commits} commits with ${transactions} ledger transactions are missing. ` +
    "The file or its log (-wal) was deleted or damaged, or an old copy took its place"
  );
}

/** A row with the same unique value is there already. Nothing was written. */
export class UniqueViolation extends Error {
  /** Index of the statement in its batch; 0 outside batches. */
  readonly statementIndex: number;

  constructor(statementIndex: number, cause: unknown) {
    super("A row with the same unique value exists.", { cause });
    this.name = "UniqueViolation";
    this.statementIndex = statementIndex;
  }
}

/** A statement of a batch affected fewer rows than it expected. Nothing of the batch was written. */
export class BatchRejected extends Error {
  readonly statementIndex: number;
  readonly expectedRows: number;
  readonly affectedRows: number;

  constructor(rejection: { statementIndex: number; expectedRows: number; affectedRows: number }) {
    const { statementIndex, expectedRows, affectedRows } = rejection;
    super(`Statement ${statementIndex} of the batch affected ${affectedRows} rows, expected ${expectedRows}.`);
    this.name = "BatchRejected";
    this.statementIndex = statementIndex;
    this.expectedRows = expectedRows;
    this.affectedRows = affectedRows;
  }
}

/** Another process serves from this SQLite file. */
export class StoreInUse extends Error {
  constructor(path: string) {
    super(
      `Another process is serving from ${path}. Only one may own a SQLite file: stop the other one, ` +
        "give this one a database of its own, or let both use PostgreSQL.",
    );
    this.name = "StoreInUse";
  }
}
