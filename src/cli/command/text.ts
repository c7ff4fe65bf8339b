// Sentences of the commands: results, refusals and next steps. Help pages are in help/pages.ts.

// apply.ts
export const wrongChanges = "The changes must have the keys of switchyard.yaml: providers, models, tiers, routing.";
export const changesUnreadable = (reason: string) => `The changes cannot be read: ${reason}.`;
export const changesNotYaml = (reason: string) => `The changes are not YAML: ${reason}`;
export const replayedCost = (before: string, after: string) =>
  `$${before} charged, $${after} with these changes. Nothing was published.\n`;

// backup.ts
export const fileExists = (file: string) => `${file} exists. Add --force to replace it.`;
export const backedUp = (file: string, summary: string) => `✓ Backed up and verified: ${file}, ${summary}.\n`;
export const fileNotFound = (file: string) => `File not found: ${file}.`;
export const replaceQuestion = (file: string, summary: string) =>
  `Replace the database by ${file} (${summary})? Everything written since is lost.`;
export const restored = (summary: string) => `✓ Restored and verified: ${summary}.\n`;
export const previousDatabase = (path: string) => `The previous database is ${path}.\n`;
export const backupFileMissing = "Name the file of the backup.";
export const unexpectedArgument = (argument: string) => `Unexpected argument '${argument}'.`;
export const databaseLacks = (migrations: string, call: string) => `The database lacks ${migrations}. Run: ${call}`;
export const ledgerProblems = (problems: string) => `The ledger is inconsistent: ${problems}`;
export const newerDatabase = (migrations: string) => `A newer version created this database: it has ${migrations}.`;
export const backupDamaged = (file: string, reason: string) =>
  `${file} is damaged or is not a Switchyard backup (${reason}). Nothing was changed.`;
export const notBackup = (file: string) => `${file} is not a Switchyard backup: it has no ledger.`;
export const backupDiffers = (file: string, written: number, before: number) =>
  `${file} has ${written} ledger transactions, the database had ${before}.`;
export const sameFile = "The backup and the database are the same file.";
export const databaseInUse = "A gateway uses this database. Stop every process on it first.";
export const otherVersion = "The backup is from another version than the database. Restore it into an empty database.";

// command/command.ts
export const use = (command: string, subcommands: string) => `Use: ${command} ${subcommands}.`;
export const confirmWithYes = (command: string) =>
  `${command} cannot be undone. Add --yes to confirm without a prompt.`;
export const nothingChanged = "Nothing was changed.\n";

// command/effective.ts
export const runtimeUnreadable = (reason: string) =>
  `! The run-time configuration cannot be read. Only file and environment apply: ${reason}.\n`;

// command/flags.ts
export const flagNeedsValue = (flag: string) => `--${flag} needs a value.`;
export const flagTakesNoValue = (flag: string) => `--${flag} takes no value.`;
export const flagNotOneOf = (flag: string, known: string, given: string) =>
  `--${flag} is one of ${known}, not '${given}'.`;
export const flagNotNumber = (flag: string, most: number, given: string) =>
  `--${flag} is a number from 0 to ${most}, not '${given}'.`;
export const flagNotCount = (flag: string, given: string) => `--${flag} is a whole number from 1, not '${given}'.`;
export const flagIsNot = (flag: string, is: string, given: string) => `--${flag} is ${is}, not '${given}'.`;

// command/store.ts
export const noAccount = (id: string) => `No account '${id}'.`;

// command/usage.ts
export const didYouMean = (word: string) => `Did you mean '${word}'?`;
export const unknownWord = (what: string, word: string, hint: string) => `Unknown ${what} '${word}'. ${hint}`;
export const seeHelp = (message: string, call: string) => `${message} See: ${call}\n`;

// login.ts
export const noGateway = (url: string, reason: string) => `No gateway answers at ${url}: ${reason}.\n`;
export const noTokensHere = (url: string) =>
  `${url} takes no tokens of an identity provider. Set audiences and deviceClientId there.\n`;
export const chooseProvider = (names: string) => `Choose one with --provider: ${names}.\n`;
export const openThisPage = (url: string, code: string) => `Open ${url} and confirm the code ${code}. Waiting…\n`;
export const loginFirst = (call: string) => `You are not signed in. Run in a terminal: ${call}\n`;
export const loginFailed = (name: string, reason: string) => `${name} gave no token: ${reason}.\n`;
export const noUsableToken = (name: string, audiences: string) =>
  `${name} gave a token for another audience than ${audiences}. Add the audience there, or here.\n`;

// doctor/identity.ts
export const issuerFine = (name: string, issuer: string) => `Identity provider ${name}: ${issuer} answers`;
export const issuerLacks = (name: string, missing: string) => `Identity provider ${name} has no ${missing}`;
export const issuerUnreachable = (name: string, issuer: string, reason: string) =>
  `Identity provider ${name}: ${issuer} cannot be used (${reason})`;
export const checkIssuer =
  "Compare the issuer with the identity provider's own page; people can sign in with a password";
export const callbacks = (urls: string) => `Callbacks to register at identity providers: ${urls}`;
export const callbackUnknown = (urls: string) => `The host of callbacks follows each request: ${urls}`;
export const setPublicUrl = "Set server.publicUrl to the address at which people open the dashboard";

// command/versions.ts
export const nothingDiffers = (version: number) => `Nothing differs from version ${version}.\n`;
export const versionMade = (version: number, changes: string) => `Version ${version}: ${changes}.\n`;

// credits.ts
export const needsAmount = (kind: string) => `credits ${kind} needs an amount in USD.`;
export const balanceNow = (account: string, balance: string, call: string) =>
  `Done. The balance of '${account}' is ${balance} USD. Full ledger: ${call}\n`;
export const wrongBillingMode = (modes: string, given: string) =>
  `The billing mode is one of ${modes}, not '${given}'.`;
export const noEntries = (call: string) => `No entries yet. Add credits: ${call}\n`;

// demo.ts
export const demoBatches = "by the hour, and by the day for times older than a week";
export const demoTakesFlags = (word: string | undefined) => `demo takes flags only, not '${word}'.`;
export const flagOutOfRange = (flag: string, most: number, given: string) =>
  `--${flag} is a whole number from 1 to ${most}, not '${given}'.`;
export const demoMade = (requests: string, days: number, usd: string) =>
  `Generated ${requests} requests over ${days} days, ${usd} USD. Nothing real was charged.\n`;
export const demoAllBooked = (charges: number, batches: string) =>
  `All ${charges} charges are in the ledger, ${batches}.\n`;
export const demoNewestBooked = (charges: number, batches: string, olderUsd: string, note: string) =>
  `The newest ${charges} charges are in the ledger, ${batches}. Older ones are monthly adjustments of ${olderUsd} USD in total ("${note}").\n`;
export const demoBalance = (usd: string, call: string) =>
  `Balance: ${usd} USD. Open it with '${call}' and the same --database.\n`;
export const demoRetention = (days: number, kept: number) =>
  `Without --demo, requests older than ${days} days are deleted; SWITCHYARD_RETENTION_DAYS=${kept} keeps them.\n`;
export const demoKey = 'The key "production" is shown once:\n';

// doctor/clock.ts
export const clockUnchecked = (time: string) => `Clock: ${time} (not checked: no time source)`;
export const clockMatches = (time: string, source: string) => `Clock: ${time}, matches ${source}`;
export const turnOnNtp = "Turn on NTP on both machines, for example: timedatectl set-ntp true";
export const theDatabase = "the database";

// doctor/database.ts
export const checkDatabaseUrl = "Check DATABASE_URL and that the server is running";
export const checkFile = (file: string | null) => `Check ${file}, or restore a backup`;
export const databaseUnusable = (reason: string) => `Database cannot be used: ${reason}`;
export const databaseInMemory = "Database: in memory, lost when the gateway stops";
export const setDatabaseUrl = "Set DATABASE_URL";
export const databaseNew = "Database: created on first start";
export const databaseNotCreatable = (file: string, problem: string) => `Database ${file} cannot be created: ${problem}`;
export const databaseReadOnly = (file: string, reason: string) => `Database ${file} cannot be written to: ${reason}`;
export const partUnusable = (name: string, path: string, problem: string) =>
  `The ${name} ${path} cannot be used: ${problem}`;
export const noFile = "it is not a file";
export const movePartAway = "Move it away. The next start makes a file there";
export const damagedPart =
  "The next start renames it and makes an empty one. Restore a backup to have its contents back";
export const allowDatabase = "Give this user write access, or set DATABASE_URL to another path";
export const newerDatabaseFound = (migrations: string) =>
  `Database was created by a newer version: it has ${migrations}`;
export const runThatVersion = "Run that version, or restore a backup";
export const migrationsPending = (migrations: string) => `Database connected; pending migrations: ${migrations}`;
export const applyMigrations = (call: string) => `Apply them now: ${call}. The next start also applies them`;
export const databaseFine = "Database connected and up to date";
export const folderReadOnly = (folder: string, problem: string) =>
  `Data folder ${folder} cannot be written to: ${problem}`;
export const allowFolder = "Give this user write access, or set SWITCHYARD_DATA to another folder";
export const folderFine = (folder: string) => `Data folder ${folder} is writable`;
export const folderNew = (folder: string) => `Data folder ${folder} will be created`;
export const notFolder = (path: string) => `${path} is not a folder`;

// doctor/doctor.ts
export const startIt = (call: string) => ` Start it: ${call}`;
export const nodeTooOld = (version: string) => `Node ${version} is too old`;
export const installNode = (major: number | undefined, minor: number | undefined) =>
  `Install Node ${major}.${minor} or newer`;

// doctor/machine.ts
export const diskFree = (folder: string, gigabytes: string) => `Disk of ${folder}: ${gigabytes} GB free`;
export const freeSpace = "Free up space, or move the data: SWITCHYARD_DATA, DATABASE_URL";
export const dashboardBuilt = "Dashboard: built";
export const dashboardMissing = (folder: string) => `Dashboard: files missing in ${folder}`;
export const buildDashboard = "Build it: npm run build. The API works without it";
export const redisFine = "Redis connected";
export const redisUnusable = (reason: string) => `Redis cannot be used: ${reason}`;
export const checkRedis = "Check REDIS_URL and that the server is running, or unset it on a single machine";
export const alreadyRunning = "Switchyard is already running";
export const anyPort = "Port: any free one";
export const portFree = (port: number, host: string) => `Port ${port} on ${host} is free`;
export const portUnusable = (port: number, host: string, reason: string) =>
  `Port ${port} on ${host} cannot be opened: ${reason}`;
export const setHostAndPort = "Set HOST to an address of this machine and PORT to a port above 1023";
export const portTaken = (port: number, host: string) => `Port ${port} on ${host} is in use by another program`;
export const stopProgram = "Stop that program, or set PORT to another port";

// doctor/providers.ts
export const modelAnswered = (provider: string, model: string | null, ms: number) =>
  `${provider}: ${model} answered in ${ms} ms`;
export const serverFound = (server: string) => `Found ${server}, not in use`;
export const seeModels = (call: string) => `See its models: ${call}`;
export const keyAccepted = (provider: string, host: string, ms: number) =>
  `${provider}: ${host} accepts the key (${ms} ms); it does not list its deployments`;
export const testOne = (call: string) => `Test one with a real request: ${call}`;
export const noModelsListed = (provider: string, host: string) =>
  `${provider}: ${host} is reachable but lists no models, so the key was not tested`;
export const modelsListed = (provider: string, host: string, models: number, ms: number) =>
  `${provider}: ${host} lists ${models} models (${ms} ms)`;
export const testIt = (call: string) => `Test it with a real request: ${call}`;

// doctor/secret.ts
export const secretMatches = "Secret: the one of the database";
export const secretDiffers = "Secret: another one than the database has";
export const secretMissing = "Secret: missing, and the database has one";
export const secretUnreadable = (reason: string) => `Secret: cannot be read (${reason})`;
export const useItsSecret = (file: string, call: string) =>
  `Use the SWITCHYARD_SECRET or ${file} of the gateway on this database. If it is lost: ${call}`;

// doctor/versions.ts
export const versionFine = (newest: number) => `Run-time configuration: version ${newest}`;
export const versionUnusable = (newest: number, serving: number, reason: string) =>
  `Run-time configuration: version ${newest} cannot be used, so version ${serving} is in use (${reason})`;
export const publishAnother = (call: string) => `Publish a version that passes, or go back: ${call}`;
export const keyOfOtherSecret = (provider: string) => `${provider}: its stored key was encrypted with another secret`;
export const useThatSecret = (file: string) =>
  `Start with the SWITCHYARD_SECRET or ${file} of the gateway that stored it, or enter the key again`;

// keys.ts
export const keyUnrestricted = (call: string) => `It can use every model. Restrict it: ${call}\n`;
export const keyCreated = (key: string) => `Created ${key}. The key is shown once; keep it safe.\n`;
export const noKeys = (call: string) => `No keys yet. Create one: ${call}\n`;
export const keyUpdated = (key: string) => `Updated ${key}.\n`;
export const noSpendLimit = "It has no spend limit";
export const spendLimit = (usd: string) => `Its limit is ${usd} USD`;
export const spendReset = (key: string, limit: string) => `Spend of ${key} reset to zero. ${limit}.\n`;
export const revokeQuestion = (key: string) =>
  `Revoke ${key}? Requests with it fail from now on. This cannot be undone.`;
export const inAccount = (account: string) => ` in account '${account}'`;
export const noKey = (id: string, place: string, call: string) => `No key '${id}'${place}. See: ${call}\n`;
export const profileDeleted = (profile: string) => `${profile} (deleted: it gets 401)`;
export const needsKeyId = (kind: string, call: string) => `keys ${kind} needs a key id. List them: ${call}.`;
export const createTakesName = (word: string) => `keys create takes no argument. Did you mean --name ${word}?`;
export const createNeedsName = "keys create needs --name, such as --name production.";
export const setNeedsChange = (flags: string) => `keys set needs something to change, one or more of ${flags}.`;
export const nameTooLong = "--name can have at most 200 characters.";
export const wrongRpm = (given: string) => `--rpm is a whole number from 1 to 1000000, not '${given}'.`;
export const wrongSpendLimit = (given: string) =>
  `--spend-limit is an amount in USD, such as 25 or 0.50, not '${given}'.`;
export const wrongSpendReset = (resets: string, given: string) => `--spend-reset is one of ${resets}, not '${given}'.`;
export const wrongExpiry = (given: string) =>
  `--expires is a time in the future, such as 90d, 12h or 2030-01-31, not '${given}'.`;
export const wrongGrace = (given: string | null) =>
  `--grace is how long the old key still works, such as 0, 1h or 7d, at most 30d, not '${given}'.`;

// ledger.ts
export const ledgerCounts = (wallets: number, transactions: number, holds: number, entries: number) =>
  `${wallets} wallets, ${transactions} transactions, ${holds} open holds, ${entries} audit entries`;
export const ledgerConsistent = (counts: string) => `✓ The ledger is consistent: ${counts}.\n`;
export const ledgerInconsistent = (counts: string) => `✗ The ledger is inconsistent: ${counts}.\n`;
export const nothingMissing = "Nothing is missing from the database.\n";
export const otherHistory = "another history";
export const commitsLost = (commits: number, transactions: number) =>
  `${commits} commits with ${transactions} ledger transactions`;
export const lossQuestion = (missing: string) => `The database lost ${missing}. Continue without them?`;
export const lossRecorded = (call: string) => `Recorded. Check the rest: ${call}\n`;

// migrate.ts
export const databaseUpToDate = "The database is up to date.\n";
export const newerDatabaseRun = (migrations: string) =>
  `A newer version created this database: it has ${migrations}. Run that version.\n`;
export const applyThem = (call: string) => `Apply them: ${call}. The next start also applies them.\n`;
export const databaseWasUpToDate = "The database was up to date.\n";
export const databaseMigrated = (call: string) => `The database is up to date now. Start it: ${call}\n`;

// models.ts
export const inChain = (tier: string) => ` in the ${tier} chain, in order`;
export const modelsCounted = (models: number, order: string, usable: number, call: string) =>
  `\n${models} models${order}; ${usable} usable with the configured providers. Check them: ${call}\n`;
export const listedAs = (result: string, name: string) => `${result} as ${name}`;
export const priceOld = (date: string, days: number) => `price of ${date}, ${days} days old`;
export const correctUpstream =
  "Correct 'upstream' under models:, remove it from tiers:, or ask the provider for access.";
export const withWrongPrices = "with wrong prices";
export const setPrice = "Set the provider's price under models:.";
export const withOldPrices = "with old prices";
export const comparePrices = "Compare them with the vendors' pages and update models:.";
export const notChecked = "not checked";
export const fixProvider = (call: string) => `Fix the provider first. If it lists no models: ${call}`;
export const setProviderKey = "Set a provider key, such as OPENAI_API_KEY, to check a real provider.";
export const allAvailable = (models: number, call: string) => `All ${models} models are available. Try one: ${call}`;

// catalogue/*.ts
export const catalogueRefused = (from: string, reason: string) => `${from}: ${reason} Nothing was changed.\n`;
export const catalogueOfFuture = (date: string) => `It is dated ${date}, which is in the future.`;
export const catalogueOlder = (version: string, own: string) =>
  `It is version ${version}, and ${own} is in use. Add --allow-older to go back.`;
export const catalogueOtherContent = (version: string) =>
  `It is version ${version} like the catalogue in use, with other contents. Give it a higher version.`;
export const catalogueCompared = (own: string, version: string, key: string) =>
  own === version
    ? `\nThe catalogue in use is version ${own} already.\n`
    : `\nVersion ${own} is in use, the file has ${version}, signed by ${key}.\n`;
export const catalogueOwnPrices = (models: string) => `Prices that an operator wrote stay: ${models}.\n`;
export const catalogueApplied = (version: string, number: number, call: string) =>
  `✓ Catalogue ${version} is in use, as version ${number} of the configuration. Go back: ${call}\n`;
export const catalogueNotApplied = "Nothing was changed. Add --apply to take it over.\n";
export const catalogueNote = (version: string, key: string) => `Catalogue ${version}, signed by ${key}`;
export const catalogueSigned = (path: string, version: string, key: string) =>
  `✓ Signed ${path} (version ${version}). Gateways that trust it have in prices.catalogueKeys: ${key}\n`;
export const catalogueNotSigned = (path: string, reason: string) => `${path} was not signed. ${reason}\n`;
export const fileUnreadable = (path: string, reason: string) => `${path} cannot be read: ${reason}.`;
export const signNeeds =
  "models sign needs the file to sign, and --key-from with a private key or - for standard input.";
export const olderOfCatalogue = "--allow-older is for a catalogue file.";

// profiles.ts
export const sameNames = (count: number, name: string) => `${count} profiles are named '${name}'. Use an id.`;
export const noProfile = (name: string, call: string) => `No profile '${name}'. See: ${call}\n`;
export const noProfiles = (call: string) => `No profiles yet. Create one: ${call}\n`;
export const unknownModel = (model: string, call: string) => `Unknown model '${model}'. List them: ${call}.`;
export const profileGone = "The profile has been deleted.";
export const floorAboveCeiling = (floor: string | null, ceiling: string | null) =>
  `The floor ${floor} is above the ceiling ${ceiling}, so the ceiling applies.\n`;
export const useProfile = (call: string) => `Use it with a key: ${call}\n`;
export const noRules = "no rules";
export const needsProfile = (kind: string) => `profiles ${kind} needs a profile name or id.`;

// provider-changes.ts
export const needsProvider = (kind: string) => `providers ${kind} needs the name of a provider.`;
export const needsProviderKey = (call: string) => `providers remove-key needs the id of a key. List them: ${call}.`;
export const needsKeyFrom = "providers add-key needs --key-from with a file, or - for standard input.";
export const takesNoFlag = (kind: string, flag: string) => `providers ${kind} takes no --${flag}.`;
export const keyEmpty = "The key is empty.";
export const keyUnreadable = (reason: string) => `The key cannot be read: ${reason}.`;
export const providerExists = (id: string) => `Provider '${id}' already exists.`;
export const noProviderAdded = (id: string) => `No provider '${id}' was added at run time.`;

// providers.ts
export const nothingToAdd = "\nNothing to add: the configuration has all models that need no key.\n";
export const addedFree = (version: number) =>
  `\nAdded at price zero, as version ${version}. Add them to a chain under tiers: or with chains set.\n`;
export const useFree = (call: string) => `\nUse them at price zero: ${call}\n`;
export const noServer = "No Ollama, LM Studio, llama.cpp or vLLM answers";
export const noServerHere = (none: string, call: string) =>
  `${none} on this machine at the usual ports. Name an address: ${call}\n`;
export const noServerAt = (none: string, address: string, call: string) =>
  `${none} at ${address}. Connect another server on the Providers page, or: ${call}\n`;
export const notConfigured = "not configured";
export const configuredAs = (provider: string) => `configured as '${provider}'`;

// route.ts
export const notCalled = (profiles: string, serve: string) =>
  `\nNo provider was called. Save rules: ${profiles}. Run it: ${serve}\n`;
export const tierOrModel = "--tier and --model cannot be combined.";
export const promptMissing = (call: string) => `The prompt is missing. Example: ${call}`;
export const noProfileListed = (name: string, call: string) => `No profile '${name}'. List them: ${call}.`;
export const flagNotJson = (flag: string, reason: string) => `--${flag} is not JSON: ${reason}.`;
export const flagNotArray = (flag: string) => `--${flag} must hold a JSON array.`;
export const flagFileUnreadable = (flag: string, reason: string) =>
  `--${flag} names a file that cannot be read: ${reason}.`;

// secret.ts
export const secretFits = "The database has no other secret than this one.\n";
export const secretQuestion =
  "Replace the secret of the database? Provider keys that were set at run time must be entered again, and stored " +
  "responses and conversations can no longer be read.";
export const secretReplaced =
  "Replaced. Start every gateway with this secret, and enter the provider keys again that were set at run time.\n";

// demo/store.ts
export const publicNeedsDemo = "--public goes with --demo only.";
export const generatingDemo = "Generating demo traffic. This takes a few seconds.\n";

// serve.ts
export const cannotStart = (reason: string) => `switchyard cannot start: ${reason}\n`;
export const metered = "metered (spending is recorded, no request is refused for lack of credits)";
export const noCredits = (amount: string, call: string) =>
  `${amount}   (requests fail with 402; add some with: ${call})`;
export const starterCredit = (amount: string) =>
  `${amount} starter credit   (a spending cap; add more in the dashboard)`;
export const sandbox = (variables: string) => `sandbox (simulated answers; set ${variables} … for real ones)`;

// start-failure.ts
export const portInUse = (port: number) =>
  `port ${port} is in use. Stop the other program, or set PORT to another port.`;
export const portForbidden = (port: number) => `this user may not open port ${port}. Set PORT to a port above 1023.`;

// doctor/prices.ts
export const pricesUnchecked = "Price checks are off";
export const pricesNotYet = "Prices have not been checked yet; a server with a provider does it within minutes";
export const pricesChecked = (when: string, confirmed: number) =>
  `Prices checked ${when}; feeds have the same for ${confirmed === 1 ? "1 host" : `${confirmed} hosts`}`;
export const pricesOldest = (model: string, day: string) => `; the oldest in use is of ${day} (${model})`;
export const turnOnPrices = "Set prices.check to daily to have prices checked by themselves";
export const feedStays = "Prices stay as they are; look at the Prices tab of the dashboard";
export const feedStale = (feed: string, day: string) =>
  `${feed} has not changed since ${day}, so it has no vote on prices until it does`;
export const feedLost = (feed: string, names: string) => `${feed} no longer lists ${names}`;
export const pricesWait = (count: number, names: string) =>
  `${count === 1 ? "1 price differs" : `${count} prices differ`} from the feeds: ${names}`;
export const reviewPrices = "Adopt or ignore them on the Prices tab of the dashboard";

// update-prices.ts
export const pricesApplied = (models: number, version: number | null, advice: string) =>
  `Applied ${models} as version ${version}.${advice}\n`;
export const pricesOf = (source: string) => `Prices of ${source}`;
export const ownPricesStay = (models: string) => ` Your own prices stay: ${models}.`;
export const changeInFile = (models: string) => ` Change these in the file: ${models}.`;
export const priceRefused = (model: string, reason: string) => `! ${model}: ${reason}. The price stays.\n`;
export const andMore = (count: number) => ` and ${count} more`;

// users.ts
export const needsEmail = "users reset needs the e-mail address of a user.";
export const wrongUrl = (given: string) =>
  `--url is where people reach the gateway, such as https://gateway.example.com, not '${given}'.`;
export const forgotPassword = (call: string) => `\nForgot a password? ${call}\n`;
export const noUsers = (call: string) => `No users yet. The server prints a one-time link when it starts: ${call}\n`;
export const noUser = (email: string | null, call: string) => `No user '${email}'. See: ${call}\n`;
export const resetLink = (email: string) => `Reset link for ${email}. It works once and expires in a day.\n`;

// versions.ts
export const needsNumber = (kind: string) => `versions ${kind} needs a number.`;
export const needsFile = "versions apply needs a file, or - for standard input.";
export const nothingLocked = "Everything can be changed at run time.\n";
export const noVersions = "Nothing was changed at run time yet.\n";
export const noVersion = (number: number, call: string) => `No version ${number}. See: ${call}\n`;
export const needsTierAndModels = "chains set needs a tier and its models.";
