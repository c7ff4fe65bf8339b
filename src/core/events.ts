// The log events: one row for each line the gateway can write. Names are stable; alerts and dashboards match on them.
// docs/operate/logs.md lists this table, and a test keeps the two equal.

type LogLevel = "debug" | "info" | "warn" | "error";

/** Makes the rows of a level. The meaning tells operators what happened, and what follows. */
const rowsOf =
  <const Level extends LogLevel>(level: Level) =>
  (meaning: string) => ({ level, meaning });

const [debug, info, warn, error] = [rowsOf("debug"), rowsOf("info"), rowsOf("warn"), rowsOf("error")];

export const LOG_EVENTS = {
  // Requests
  "request.completed": info("A `/v1` request is over, whatever its status. It has the fields listed above."),
  "request.failed": error("A request ended with a status of 500 or more. `err` and `cause` say why."),
  "shadow.failed": warn(
    "A shadow sample could not be made or stored. The client had its answer before, and nothing was charged.",
  ),
  "attempt.failed": warn("A model failed. The next one of the chain is tried."),
  "search.failed": warn("The search provider did not answer a search, or with an error. The model goes on without it."),
  "fetch.failed": warn("A page that a model asked for could not be read. The model goes on without it."),
  "cascade.webhook_failed": warn(
    "A webhook could not be asked about an answer of a cascade. The answer counts as failed.",
  ),
  "reservation.chain_shortened": info("The balance covers only part of the chain, so cheaper models are used."),
  "stream.broken": warn("A provider broke off a stream. The client is not charged."),
  "stream.failed": error("The gateway itself broke off a stream. The client is not charged."),
  "overload.started": warn("New requests are rejected with 503 because of overload. Logged once per episode."),
  "realtime.closed": info("A realtime session is over. `code` and `reason` say why, `responses` counts its responses."),
  "realtime.failed": error("A realtime session could not be opened because of a fault of ours."),
  "realtime.refused": warn("A provider did not open a realtime session. The next host of the model is tried."),
  // Providers
  "provider.rejected_credentials": error("A provider rejected the configured API key or the model name."),
  "provider.tested": info("Somebody tested a provider from the dashboard or the API."),
  "provider.discovered": info("Somebody looked for model servers from the dashboard or the API."),
  "model.retires_soon": warn(
    "A model of a chain retires within 30 days. From its last day on, the chains go on without it. Logged once.",
  ),
  "model.retired": warn("A model has retired and left its chains. Logged once."),
  "prices.differ": warn("Prices of the catalogue differ from what the feeds say, and wait for an operator."),
  "prices.unavailable": warn("A price feed could not be read. Prices stay as they are."),
  "prices.stale": warn("A price feed has not changed for 14 days, and has no vote on prices until it does."),
  "prices.lost": warn("A price feed lists models or vendors of the catalogue no more. Their prices stay as they are."),
  "prices.unadopted": warn("What a price check found could not be published as a version of the configuration."),
  "breaker.opened": warn("A provider, credential or model is cooling down after failures."),
  "usage.implausible": warn(
    "A provider's token counts are missing or cannot be right. `reason` says which. Logged once a minute.",
  ),
  // Sessions
  "speeds.unshared": debug("Observed speeds of hosts could not be sent to other processes. The next ones are."),
  "sessions.store_away": debug(
    "Sessions could not be written or read. They stay in memory, and the next try follows in a second.",
  ),
  "sessions.failed": error(
    "A turn could not be remembered because of a bug. Its answer was not affected. `err` says why.",
  ),
  "sessions.unread": warn("Sessions of earlier runs could not be read at the start. Conversations start again."),
  // Money
  "charge.exceeded_balance": warn("A response cost more than the balance. The operator absorbs the rest."),
  "charge.hold_resolved": error("A response could not be charged: its hold was already resolved."),
  "settlement.deferred": error("A charge could not be booked now. It is kept in the outbox and booked later."),
  "settlement.completed": info("A deferred charge has been booked."),
  "hold.resolve_failed": error("A hold could not be settled or released. It is tried again."),
  "hold.abandoned_released": warn("Holds of a process that died have been released."),
  "budget.freed": warn("Budgets still had holds reserved that an older version had ended. They are free again."),
  "lease.abandoned_returned": warn("Credit leased by a process that died has been returned."),
  "ledger.audit_failed": error("The hourly audit found rows that contradict each other. `problems` lists them."),
  "ledger.upkeep_failed": warn("The hourly audit or the sweep of stored responses could not run. It is tried again."),
  "ledger.retry_failed": debug("Deferred charges could not be booked yet. They are tried again."),
  "outbox.write_failed": error("The outbox file cannot be written. Check the disk of the data folder."),
  "outbox.line_skipped": error("An outbox file ends in a partial line. It was never acknowledged and is skipped."),
  "outbox.left_pending": error("The process stops with charges in the outbox. The next start books them."),
  // Stored responses
  "completion.store_failed": error(
    "A chat completion could not be stored. It was answered, charged, and has the note `not_stored`.",
  ),
  "response.store_failed": error("A response could not be stored. It was answered, charged, and says `store: false`."),
  "responses.unreadable": error(
    "Stored content cannot be opened: another secret sealed it, or it was changed. The client is told that it does not exist.",
  ),
  "responses.abandoned": warn("Background responses of a process that died have been marked as failed."),
  "responses.pruned": info("Responses and conversations older than the retention were deleted."),
  "batches.failed": warn(
    "A step of a batch failed, for instance because the database or a host is away. It is tried again.",
  ),
  "files.pruned": info("Files that have expired were deleted."),
  "files.prune_failed": warn("Expired files could not be deleted. It is tried again."),
  "responses.prune_failed": warn("Old responses could not be deleted. It is tried again."),
  "responses.trimmed": info("The oldest responses of an account over its size were deleted."),
  "responses.upkeep_failed": warn("Upkeep of stored responses could not run. It is tried again."),
  "secret.unavailable": error(
    "The secret file can be neither read nor made. Nothing stored now can be read after a restart.",
  ),
  // Keys and limits
  "key.spend_reset": info("Somebody reset what a key has spent."),
  "user.changed": info("Somebody changed the role or the teams of a user."),
  "keys.revoked": info("Somebody revoked several keys at once."),
  "keys.reload_failed": warn("Keys and profiles cannot be read. Those already known stay valid."),
  "keys.reload_recovered": info("Keys and profiles can be read again."),
  "keys.notifications_lost": warn("PostgreSQL notifications of key changes are lost. Changes are found by polling."),
  "keys.last_used_failed": warn("Last-used times could not be written. They are kept and tried again."),
  "rate_limits.sharing_lost": warn("Rate limits cannot be shared between processes. Each one enforces its part."),
  "rate_limits.sharing_recovered": info("Rate limits are shared between processes again."),
  "redis.unused": warn("Redis is configured, but a SQLite file serves only one process."),
  "redis.error": debug("The Redis connection reported an error."),
  "identity.sign_in_failed": warn(
    "Somebody came back from an identity provider and could not sign in. `code` says why.",
  ),
  "passkey.refused": warn(
    "Somebody could not sign in with a passkey. `reason` says why, and `passkey` which one, if it is known.",
  ),
  "identity.groups_overage": warn(
    "The identity provider left groups out because there are too many. Roles stay as they are. Use app roles.",
  ),
  "identity.last_operator_kept": warn(
    "The identity provider would demote the last operator with a password. The role stays.",
  ),
  "proxy.untrusted": warn(
    "A proxy at `address` is not in `server.trustedProxies`, so all its clients share one address and its limits. Logged once an hour.",
  ),
  "demo.store_failed": error("A store of the public demo could not be started or stopped."),
  // Records and traces
  "records.delayed": warn("Request records wait because the database does not answer."),
  "records.rejected": error("The database rejected a request record. It is lost."),
  "records.unshown": error("Request records were written, but the live log could not show them."),
  "records.lost": error("Request records are lost: the database was away when the process stopped."),
  "records.pruned": info("Request records older than the retention were deleted."),
  "records.prune_failed": warn("Old request records could not be deleted. It is tried again."),
  "audit.pruned": info("Entries of the audit log older than the retention were deleted."),
  "audit.prune_failed": warn("Old entries of the audit log could not be deleted. It is tried again."),
  "audit.failed": error(
    "A change was made, and its entry in the audit log could not be written. `action` and `object` say which.",
  ),
  "audit.recover_failed": warn(
    "Entries of changes that a process did not complete could not be added to the audit log. It is tried again.",
  ),
  "tool_calls.read_failed": warn("Tool-call counts could not be read. Routing keeps the last ones."),
  "live_log.poll_failed": debug("The live request log could not ask for requests of other processes."),
  "otlp.export_failed": warn(
    "The collector does not accept traces, metrics or logs. `signal` says which. They are dropped until it does.",
  ),
  "otlp.export_recovered": info("The collector accepts them again."),
  // Alerts
  "alert.raised": warn("Something happened that somebody may want to know. `kind` names it."),
  "alert.ended": info("What was raised is over. `ended` says how many events of the kind."),
  "alert.send_failed": warn(
    "A message about an event could not be sent. `isOver` says whether it was the last attempt.",
  ),
  "alert.watch_failed": warn(
    "Events could not be looked for, for instance because the database is away. The next minute tries again.",
  ),
  // Process
  "log.lines_dropped": error("Log lines could not be written and are lost. `droppedLines` says how many."),
  "log.repeated": warn(
    "An event happened more than 100 times in ten seconds. `repeated` names it, and `leftOut` says how many of its lines were not written.",
  ),
  "config.warning": warn("The configuration has a setting that is probably wrong. `place` says where."),
  "config.published": info("Somebody changed the configuration at run time. `author` says who, `changes` what."),
  "config.followed": info(
    "The gateway follows a version that another process published. `delayMs` says how long that took.",
  ),
  "config.version_unusable": error(
    "A version of the run-time configuration does not pass the checks. The last usable one serves.",
  ),
  "config.key_unreadable": error(
    "A stored provider key cannot be opened with the secret of this installation. Set the key again.",
  ),
  "config.reload_failed": warn("Configuration versions could not be read. The last one serves, and it is tried again."),
  "config.reload_recovered": info("Configuration versions can be read again."),
  "database.connection_lost": warn("A connection to the database was lost. The pool opens another one."),
  "database.adopted": warn(
    "A SQLite file came without its witness file. What it holds is taken for the truth from now on.",
  ),
  "database.log_moving": info(
    "Many rows of the request log move from the SQLite database to a file of their own, after an upgrade or a restore.",
  ),
  "database.log_move_failed": error(
    "A table of the request log could not be moved to the log's file. Its rows stay in the database, and the next start tries again.",
  ),
  "database.log_set_aside": error(
    "The request log was damaged, or belongs to a newer database than the one beside it. It was renamed, and an empty one began.",
  ),
  "database.contents_moving": info(
    "Many rows of stored responses or conversations move from the SQLite database to a file of their own, after an upgrade or a restore.",
  ),
  "database.contents_move_failed": error(
    "A table of stored contents could not be moved to their file. Its rows stay in the database until the next start, where clients do not find them.",
  ),
  "database.contents_set_aside": error(
    "The file of stored contents was damaged or too new. It was renamed, and an empty one began. Clients no longer find what they stored.",
  ),
  "database.file_lost": error(
    "A file of the open SQLite database was deleted, moved or replaced. Nothing is written until it is back.",
  ),
  "database.file_found": info("The files of the open SQLite database are in their place again."),
  "database.writes_failed": error(
    "The database takes no writes, though it may answer. The process is not ready until it does.",
  ),
  "database.writes_recovered": info("The database takes writes again."),
  "process.stopping": info("A signal arrived. Open requests may finish; a second signal cuts them off."),
  "process.stopping_now": warn("A second signal arrived. Open requests are cut off."),
  "process.lost": error("No worker is left, and none can be started. The exit code is 1."),
  "process.stopped": info("Everything is closed."),
  "warm_up.finished": debug("The warm-up at the start is over: `answered` of `asked` canned requests in `durationMs`."),
  "warm_up.failed": warn("The warm-up at the start failed. First requests take longer."),
  "worker.started": debug("A worker process serves requests."),
  "worker.replaced": info("A worker process serves in place of one that ended or could not start."),
  "worker.ended": error(
    "A worker process died. Its open requests are cut off and cost nothing; another worker takes its place.",
  ),
  "worker.hung": error(
    "A worker process has not answered for 30 seconds, or does not serve five minutes after its start. It is killed, and another worker takes its place.",
  ),
  "worker.other_build": error(
    "A worker was not started because the program's files are of another build. `left` workers serve on. Restart the gateway.",
  ),
  "worker.start_failed": error("A worker process could not start. `reason` says why; it is tried again."),
  "shutdown.timed_out": warn("Open requests took too long. They end with an error and cost nothing."),
  "shutdown.charges_pending": error("Some open requests could not be charged before the process stopped."),
} as const;

type EventTable = typeof LOG_EVENTS;

/** The names of the events, or only those of one level. */
export type LogEvent<Level extends LogLevel = LogLevel> = {
  [Name in keyof EventTable]: EventTable[Name]["level"] extends Level ? Name : never;
}[keyof EventTable];
