// The log events: one row for each line the gateway can write. Names are stable; alerts and dashboards match on them.
// docs/operate/logs.md lists this table, and a test keeps the two equal.

type LogLevel = "debug" | "info" | "warn" | "error";

interface EventRow {
  readonly level: LogLevel;
  /** Explanation for operators: what happened, and what follows. */
  readonly meaning: string;
}

export const LOG_EVENTS = {
  // Requests
  "request.completed": {
    level: "info",
    meaning: "A `/v1` request is over, whatever its status. It has the fields listed above.",
  },
  "request.failed": {
    level: "error",
    meaning: "A request ended with a status of 500 or more. `err` and `cause` say why.",
  },
  "shadow.failed": {
    level: "warn",
    meaning: "A shadow sample could not be made or stored. The client had its answer before, and nothing was charged.",
  },
  "attempt.failed": { level: "warn", meaning: "A model failed. The next one of the chain is tried." },
  "search.failed": {
    level: "warn",
    meaning: "The search provider did not answer a search, or with an error. The model goes on without it.",
  },
  "fetch.failed": {
    level: "warn",
    meaning: "A page that a model asked for could not be read. The model goes on without it.",
  },
  "cascade.webhook_failed": {
    level: "warn",
    meaning: "A webhook could not be asked about an answer of a cascade. The answer counts as failed.",
  },
  "reservation.chain_shortened": {
    level: "info",
    meaning: "The balance covers only part of the chain, so cheaper models are used.",
  },
  "stream.broken": { level: "warn", meaning: "A provider broke off a stream. The client is not charged." },
  "stream.failed": { level: "error", meaning: "The gateway itself broke off a stream. The client is not charged." },
  "overload.started": {
    level: "warn",
    meaning: "New requests are rejected with 503 because of overload. Logged once per episode.",
  },
  // Providers
  "provider.rejected_credentials": {
    level: "error",
    meaning: "A provider rejected the configured API key or the model name.",
  },
  "provider.tested": { level: "info", meaning: "Somebody tested a provider from the dashboard or the API." },
  "provider.discovered": { level: "info", meaning: "Somebody looked for model servers from the dashboard or the API." },
  "model.retires_soon": {
    level: "warn",
    meaning:
      "A model of a chain retires within 30 days. From its last day on, the chains go on without it. Logged once.",
  },
  "model.retired": {
    level: "warn",
    meaning: "A model has retired and left its chains. Logged once.",
  },
  "prices.differ": {
    level: "warn",
    meaning: "Prices of the catalogue differ from what the feeds say, and wait for an operator.",
  },
  "prices.unavailable": {
    level: "warn",
    meaning: "A price feed could not be read. Prices stay as they are.",
  },
  "prices.stale": {
    level: "warn",
    meaning: "A price feed has not changed for 14 days, and has no vote on prices until it does.",
  },
  "prices.lost": {
    level: "warn",
    meaning: "A price feed lists models or vendors of the catalogue no more. Their prices stay as they are.",
  },
  "prices.unadopted": {
    level: "warn",
    meaning: "What a price check found could not be published as a version of the configuration.",
  },
  "breaker.opened": { level: "warn", meaning: "A provider, credential or model is cooling down after failures." },
  "usage.implausible": {
    level: "warn",
    meaning: "A provider's token counts are missing or cannot be right. `reason` says which. Logged once a minute.",
  },
  // Sessions
  "speeds.unshared": {
    level: "debug",
    meaning: "Observed speeds of hosts could not be sent to other processes. The next ones are.",
  },
  "sessions.store_away": {
    level: "debug",
    meaning: "Sessions could not be written or read. They stay in memory, and the next try follows in a second.",
  },
  "sessions.failed": {
    level: "error",
    meaning: "A turn could not be remembered because of a bug. Its answer was not affected. `err` says why.",
  },
  "sessions.unread": {
    level: "warn",
    meaning: "Sessions of earlier runs could not be read at the start. Conversations start again.",
  },
  // Money
  "charge.exceeded_balance": {
    level: "warn",
    meaning: "A response cost more than the balance. The operator absorbs the rest.",
  },
  "charge.hold_resolved": {
    level: "error",
    meaning: "A response could not be charged: its hold was already resolved.",
  },
  "settlement.deferred": {
    level: "error",
    meaning: "A charge could not be booked now. It is kept in the outbox and booked later.",
  },
  "settlement.completed": { level: "info", meaning: "A deferred charge has been booked." },
  "hold.resolve_failed": { level: "error", meaning: "A hold could not be settled or released. It is tried again." },
  "hold.abandoned_released": { level: "warn", meaning: "Holds of a process that died have been released." },
  "budget.freed": {
    level: "warn",
    meaning: "Budgets still had holds reserved that an older version had ended. They are free again.",
  },
  "lease.abandoned_returned": { level: "warn", meaning: "Credit leased by a process that died has been returned." },
  "ledger.audit_failed": {
    level: "error",
    meaning: "The hourly audit found rows that contradict each other. `problems` lists them.",
  },
  "ledger.upkeep_failed": {
    level: "warn",
    meaning: "The hourly audit or the sweep of stored responses could not run. It is tried again.",
  },
  "ledger.retry_failed": { level: "debug", meaning: "Deferred charges could not be booked yet. They are tried again." },
  "outbox.write_failed": {
    level: "error",
    meaning: "The outbox file cannot be written. Check the disk of the data folder.",
  },
  "outbox.line_skipped": {
    level: "error",
    meaning: "An outbox file ends in a partial line. It was never acknowledged and is skipped.",
  },
  "outbox.left_pending": {
    level: "error",
    meaning: "The process stops with charges in the outbox. The next start books them.",
  },
  // Stored responses
  "completion.store_failed": {
    level: "error",
    meaning: "A chat completion could not be stored. It was answered, charged, and has the note `not_stored`.",
  },
  "response.store_failed": {
    level: "error",
    meaning: "A response could not be stored. It was answered, charged, and says `store: false`.",
  },
  "responses.unreadable": {
    level: "error",
    meaning:
      "Stored content cannot be opened: another secret sealed it, or it was changed. The client is told that it does not exist.",
  },
  "responses.abandoned": {
    level: "warn",
    meaning: "Background responses of a process that died have been marked as failed.",
  },
  "responses.pruned": { level: "info", meaning: "Responses and conversations older than the retention were deleted." },
  "batches.failed": {
    level: "warn",
    meaning: "A step of a batch failed, for instance because the database or a host is away. It is tried again.",
  },
  "files.pruned": { level: "info", meaning: "Files that have expired were deleted." },
  "files.prune_failed": { level: "warn", meaning: "Expired files could not be deleted. It is tried again." },
  "responses.prune_failed": { level: "warn", meaning: "Old responses could not be deleted. It is tried again." },
  "responses.trimmed": { level: "info", meaning: "The oldest responses of an account over its size were deleted." },
  "responses.upkeep_failed": { level: "warn", meaning: "Upkeep of stored responses could not run. It is tried again." },
  "secret.unavailable": {
    level: "error",
    meaning: "The secret file can be neither read nor made. Nothing stored now can be read after a restart.",
  },
  // Keys and limits
  "key.spend_reset": { level: "info", meaning: "Somebody reset what a key has spent." },
  "user.changed": { level: "info", meaning: "Somebody changed the role or the teams of a user." },
  "keys.revoked": { level: "info", meaning: "Somebody revoked several keys at once." },
  "keys.reload_failed": { level: "warn", meaning: "Keys and profiles cannot be read. Those already known stay valid." },
  "keys.reload_recovered": { level: "info", meaning: "Keys and profiles can be read again." },
  "keys.notifications_lost": {
    level: "warn",
    meaning: "PostgreSQL notifications of key changes are lost. Changes are found by polling.",
  },
  "keys.last_used_failed": {
    level: "warn",
    meaning: "Last-used times could not be written. They are kept and tried again.",
  },
  "rate_limits.sharing_lost": {
    level: "warn",
    meaning: "Rate limits cannot be shared between processes. Each one enforces its part.",
  },
  "rate_limits.sharing_recovered": { level: "info", meaning: "Rate limits are shared between processes again." },
  "redis.unused": { level: "warn", meaning: "Redis is configured, but a SQLite file serves only one process." },
  "redis.error": { level: "debug", meaning: "The Redis connection reported an error." },
  "identity.sign_in_failed": {
    level: "warn",
    meaning: "Somebody came back from an identity provider and could not sign in. `code` says why.",
  },
  "passkey.refused": {
    level: "warn",
    meaning: "Somebody could not sign in with a passkey. `reason` says why, and `passkey` which one, if it is known.",
  },
  "identity.groups_overage": {
    level: "warn",
    meaning: "The identity provider left groups out because there are too many. Roles stay as they are. Use app roles.",
  },
  "identity.last_operator_kept": {
    level: "warn",
    meaning: "The identity provider would demote the last operator with a password. The role stays.",
  },
  "proxy.untrusted": {
    level: "warn",
    meaning:
      "A proxy at `address` is not in `server.trustedProxies`, so all its clients share one address and its limits. Logged once an hour.",
  },
  "demo.store_failed": { level: "error", meaning: "A store of the public demo could not be started or stopped." },
  // Records and traces
  "records.delayed": { level: "warn", meaning: "Request records wait because the database does not answer." },
  "records.rejected": { level: "error", meaning: "The database rejected a request record. It is lost." },
  "records.unshown": {
    level: "error",
    meaning: "Request records were written, but the live log could not show them.",
  },
  "records.lost": {
    level: "error",
    meaning: "Request records are lost: the database was away when the process stopped.",
  },
  "records.pruned": { level: "info", meaning: "Request records older than the retention were deleted." },
  "records.prune_failed": { level: "warn", meaning: "Old request records could not be deleted. It is tried again." },
  "audit.pruned": { level: "info", meaning: "Entries of the audit log older than the retention were deleted." },
  "audit.prune_failed": {
    level: "warn",
    meaning: "Old entries of the audit log could not be deleted. It is tried again.",
  },
  "audit.failed": {
    level: "error",
    meaning: "A change was made, and its entry in the audit log could not be written. `action` and `object` say which.",
  },
  "audit.recover_failed": {
    level: "warn",
    meaning:
      "Entries of changes that a process did not complete could not be added to the audit log. It is tried again.",
  },
  "tool_calls.read_failed": {
    level: "warn",
    meaning: "Tool-call counts could not be read. Routing keeps the last ones.",
  },
  "live_log.poll_failed": {
    level: "debug",
    meaning: "The live request log could not ask for requests of other processes.",
  },
  "otlp.export_failed": {
    level: "warn",
    meaning:
      "The collector does not accept traces, metrics or logs. `signal` says which. They are dropped until it does.",
  },
  "otlp.export_recovered": { level: "info", meaning: "The collector accepts them again." },
  // Alerts
  "alert.raised": { level: "warn", meaning: "Something happened that somebody may want to know. `kind` names it." },
  "alert.ended": { level: "info", meaning: "What was raised is over. `ended` says how many events of the kind." },
  "alert.send_failed": {
    level: "warn",
    meaning: "A message about an event could not be sent. `isOver` says whether it was the last attempt.",
  },
  "alert.watch_failed": {
    level: "warn",
    meaning: "Events could not be looked for, for instance because the database is away. The next minute tries again.",
  },
  // Process
  "log.lines_dropped": {
    level: "error",
    meaning: "Log lines could not be written and are lost. `droppedLines` says how many.",
  },
  "log.repeated": {
    level: "warn",
    meaning:
      "An event happened more than 100 times in ten seconds. `repeated` names it, and `leftOut` says how many of its lines were not written.",
  },
  "config.warning": {
    level: "warn",
    meaning: "The configuration has a setting that is probably wrong. `place` says where.",
  },
  "config.published": {
    level: "info",
    meaning: "Somebody changed the configuration at run time. `author` says who, `changes` what.",
  },
  "config.followed": {
    level: "info",
    meaning: "The gateway follows a version that another process published. `delayMs` says how long that took.",
  },
  "config.version_unusable": {
    level: "error",
    meaning: "A version of the run-time configuration does not pass the checks. The last usable one serves.",
  },
  "config.key_unreadable": {
    level: "error",
    meaning: "A stored provider key cannot be opened with the secret of this installation. Set the key again.",
  },
  "config.reload_failed": {
    level: "warn",
    meaning: "Configuration versions could not be read. The last one serves, and it is tried again.",
  },
  "config.reload_recovered": { level: "info", meaning: "Configuration versions can be read again." },
  "database.connection_lost": {
    level: "warn",
    meaning: "A connection to the database was lost. The pool opens another one.",
  },
  "database.adopted": {
    level: "warn",
    meaning: "A SQLite file came without its witness file. What it holds is taken for the truth from now on.",
  },
  "database.log_moving": {
    level: "info",
    meaning:
      "Many rows of the request log move from the SQLite database to a file of their own, after an upgrade or a restore.",
  },
  "database.log_move_failed": {
    level: "error",
    meaning:
      "A table of the request log could not be moved to the log's file. Its rows stay in the database, and the next start tries again.",
  },
  "database.log_set_aside": {
    level: "error",
    meaning:
      "The request log was damaged, or belongs to a newer database than the one beside it. It was renamed, and an empty one began.",
  },
  "database.contents_moving": {
    level: "info",
    meaning:
      "Many rows of stored responses or conversations move from the SQLite database to a file of their own, after an upgrade or a restore.",
  },
  "database.contents_move_failed": {
    level: "error",
    meaning:
      "A table of stored contents could not be moved to their file. Its rows stay in the database until the next start, where clients do not find them.",
  },
  "database.contents_set_aside": {
    level: "error",
    meaning:
      "The file of stored contents was damaged or too new. It was renamed, and an empty one began. Clients no longer find what they stored.",
  },
  "database.file_lost": {
    level: "error",
    meaning: "A file of the open SQLite database was deleted, moved or replaced. Nothing is written until it is back.",
  },
  "database.file_found": { level: "info", meaning: "The files of the open SQLite database are in their place again." },
  "database.writes_failed": {
    level: "error",
    meaning: "The database takes no writes, though it may answer. The process is not ready until it does.",
  },
  "database.writes_recovered": { level: "info", meaning: "The database takes writes again." },
  "process.stopping": {
    level: "info",
    meaning: "A signal arrived. Open requests may finish; a second signal cuts them off.",
  },
  "process.stopping_now": { level: "warn", meaning: "A second signal arrived. Open requests are cut off." },
  "process.lost": { level: "error", meaning: "No worker is left, and none can be started. The exit code is 1." },
  "process.stopped": { level: "info", meaning: "Everything is closed." },
  "warm_up.finished": {
    level: "debug",
    meaning: "The warm-up at the start is over: `answered` of `asked` canned requests in `durationMs`.",
  },
  "warm_up.failed": { level: "warn", meaning: "The warm-up at the start failed. First requests take longer." },
  "worker.started": { level: "debug", meaning: "A worker process serves requests." },
  "worker.replaced": {
    level: "info",
    meaning: "A worker process serves in place of one that ended or could not start.",
  },
  "worker.ended": {
    level: "error",
    meaning: "A worker process died. Its open requests are cut off and cost nothing; another worker takes its place.",
  },
  "worker.hung": {
    level: "error",
    meaning:
      "A worker process has not answered for 30 seconds, or does not serve five minutes after its start. It is killed, and another worker takes its place.",
  },
  "worker.other_build": {
    level: "error",
    meaning:
      "A worker was not started because the program's files are of another build. `left` workers serve on. Restart the gateway.",
  },
  "worker.start_failed": {
    level: "error",
    meaning: "A worker process could not start. `reason` says why; it is tried again.",
  },
  "shutdown.timed_out": {
    level: "warn",
    meaning: "Open requests took too long. They end with an error and cost nothing.",
  },
  "shutdown.charges_pending": {
    level: "error",
    meaning: "Some open requests could not be charged before the process stopped.",
  },
} as const satisfies Readonly<Record<string, EventRow>>;

type EventTable = typeof LOG_EVENTS;

/** The names of the events, or only those of one level. */
export type LogEvent<Level extends LogLevel = LogLevel> = {
  [Name in keyof EventTable]: EventTable[Name]["level"] extends Level ? Name : never;
}[keyof EventTable];
