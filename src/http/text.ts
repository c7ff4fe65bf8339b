// Sentences of the HTTP layer for clients: refusals and failures. Descriptions of fields stay in their schema.

// api/route.ts
export const readOnly = "This gateway is read-only. Make changes with the command line, on its machine.";
export const unknownField = (field: string) => `Unknown field '${field}'.`;
export const fieldMissing = (field: string) => `'${field}' is missing.`;
export const body = "The body";
export const mustBeOneOf = (values: string) => `must be one of ${values}`;
export const notValid = "is not valid";

// api/exchange.ts
export const noAccount = (id: string) => `No account '${id}'.`;
export const invalidLimit = (most: number) => `'limit' must be a whole number from 1 to ${most}.`;
export const invalidCursor = (name: string) => `'${name}' must be the 'next' of a page.`;
export const missing = (what: string, id: string) => `No ${what} '${id}'.`;
export const givenTwice = (name: string) => `'${name}' is given more than once.`;
export const notOneOf = (name: string, words: string) => `'${name}' must be one of ${words}.`;

// api/audit/routes.ts
export const invalidPart = (name: string, most: number) => `'${name}' must be at most ${most} characters of text.`;

// api/session.ts
export const tokenHasNoPassword = "The admin token has no password. Sign in.";

// api/sign-in.ts
export const ownIdentitiesOnly = "Only a user who signed in has identities. Sign in.";

// api/people/passkeys.ts
export const passkeysElsewhere = (origin: string) => `Passkeys are for ${origin}. Open the dashboard there.`;
export const ownPasskeysOnly = "Only a user who signed in has passkeys. Sign in.";

// api/configuration/entries.ts
export const modelExists = (id: string) => `Model '${id}' already exists. Use another id.`;
export const entryExists = (noun: string, id: string) => `There is already a ${noun} '${id}'. Change it with PATCH.`;
export const notChanged = (id: string) =>
  `'${id}' ships with the gateway and was not changed at run time, so there is nothing to remove.`;
export const setElsewhere = (id: string, place: string) => `'${id}' comes from ${place}. Remove it there.`;

// api/configuration/exchange.ts
export const noDifference = "no difference";
export const andMore = (first: string | undefined, count: number) => `${first} and ${count} more`;
export const invalidIfMatch = "'If-Match' must be the number of a version.";
export const tooDeep = "The body is nested too deeply.";

// api/configuration/prices.ts
export const pricesCheckedTooOften = (times: number, seconds: number) =>
  `Prices were checked ${times} times in the last minute. Wait ${seconds} s.`;
export const priceUnknown = (model: string) => `No price of '${model}' is known. Send one.`;
export const announcedPrice = "Only an announced price of a feed has a first day. Leave out price or startsOn.";
export const sendPrice = (form: string) => `Send ${form}.`;

// api/configuration/versions.ts
export const baseRequired = "Send the version you last read, as 'base' or in the header 'If-Match'.";
export const noVersion = (number: string | number) => `No version '${number}'.`;
export const invalidAfter = "'after' must be the 'next' of a page.";

// api/credits.ts
export const invalidIdempotencyKey = "'Idempotency-Key' must be 1 to 255 printable ASCII characters.";

// api/discovery.ts
export const modelsOf = (server: string) => `Models of ${server}`;
export const serverLacksModel = (server: string, model: string) => `${server} has no model '${model}'.`;
export const noServerAt = (address: string) => `No model server answers at ${address}.`;
export const serverNeedsKey = (address: string, id: string, kind: string) =>
  `The server at ${address} needs a key. Add it with POST /api/providers: id ${id}, kind ${kind}, baseUrl and apiKey.`;
export const searchedTooOften = (times: number, seconds: number) =>
  `Model servers were searched for ${times} times in the last minute. Wait ${seconds} s.`;

// api/explore.ts
export const invalidDimensions = "'by' takes one or two different dimensions. One of them may be hour or day.";
export const invalidTop = (most: number) => `'top' must be a whole number from 1 to ${most}.`;

// api/keys.ts
export const keyOfToken = "This key stands for your tokens of the identity provider. Ask your admin to revoke it.";
export const invalidSearch = (most: number) => `'q' must be at most ${most} characters, without control characters.`;
export const invalidIdOrNone = (param: string) => `'${param}' must be an id, or none.`;
export const invalidAmount = (param: string) => `'${param}' must be an amount in USD as text, such as "25" or "0.50".`;
export const invalidExpiry = "'expiresAt' must be a future time in ISO 8601.";

// api/ledger.ts
export const invalidMonth = (name: string) => `'${name}' must be a month such as 2026-01.`;

// api/outcomes.ts
export const noSamples = "No samples yet.";

// api/playground.ts
export const oneProfile = "Send 'profileId' or a profile, not both.";

// api/profiles.ts
export const noUsableModel = (id: string) => `No connected model '${id}'.`;
export const modelNotAllowed = (id: string, reason: string) => `The profile does not allow '${id}': ${reason}.`;
export const invalidKeysTo = "'keysTo' is not the id of a profile.";
export const unknownModel = (id: string) => `Unknown model '${id}'.`;

// api/providers.ts
export const noPricedModel = (provider: string, model: string) =>
  `'${provider}' has no model '${model}' with a price. Leave it out to test the cheapest one.`;
export const testedTooOften = (id: string, times: number, seconds: number) =>
  `'${id}' was tested ${times} times in the last minute. Wait ${seconds} s.`;

// api/replay.ts
export const noChainGiven = "Name a tier under chains or chainsWithTools.";
export const boundsMustRise = "The bounds must be in ascending order.";

// api/requests/events.ts
export const tooManyViews = "Too many live views are open. Close one, or poll /api/requests.";

// api/requests/filter.ts
export const notWhole = (name: string) => `'${name}' must be a whole number.`;
export const invalidTime = (name: string) => `'${name}' must be a time in ISO 8601, such as 2026-01-31T00:00:00Z.`;
export const fromAfterTo = "'from' must be before 'to'.";
export const tooManyHours = "Hourly data covers at most 62 days. Ask by day.";
export const invalidCharge = (name: string) => `'${name}' must be an amount in USD, such as 0.001.`;
export const invalidStatus = "'status' must be a status (402), several (401,404), a class (4xx), error or broken.";
export const notAnId = (name: string) => `'${name}' must be an id.`;

// api/usage.ts
export const invalidUsageBy = "'by' takes one of hour, day, total and one of model, tier, key, status.";

// exchange/body.ts
export const bodyInterrupted = "The request body was interrupted.";
export const bodyTooLarge = "The body is larger than the server accepts.";
const MB = 1024 * 1024;
export const uploadTooLarge = (limitBytes: number) =>
  `The upload is larger than the server accepts. The most is ${Number((limitBytes / MB).toFixed(2))} MB.`;
export const noBoundary = "The content type of the form names no boundary that is allowed.";
export const tooManyParts = (most: number) => `The form has more than ${most} parts.`;
export const fieldsTooLarge = "The fields of the form are larger than 1 MB. Send files as files, with a file name.";
export const uploadsFull = "There is no room for uploads right now. Try again shortly.";
/** For the operator. */
export const uploadFolder =
  "Uploads are kept in the folder for temporary files: see 'TMPDIR' and server.uploadLimitBytes.";
export const bodyTooSlow = "The request body arrived too slowly. Send the request again.";

// exchange/errors.ts
export const sendJson = "Send 'Content-Type: application/json'.";
export const wrongLength = "The body does not have the length that its header declares.";
export const invalidPath = "The path is not a valid URL path.";
export const unreadable = "The request could not be read.";
export const shuttingDown = "The server is shutting down.";
export const internal = "Internal error. Report it with the request id.";
export const headersTooLong = (kilobytes: number) => `The headers are longer than ${kilobytes} KB in all.`;
export const requestTooSlow = "The request did not arrive in time.";
export const notHttp = "The bytes received are not a valid HTTP request.";

// exchange/hosts.ts
export const noHost = "The request names no host. Send a Host header.";

// exchange/methods.ts
export const unknownPath = (path: string, hint: string) => `Unknown path ${path}. ${hint}`;
export const methodNotAllowed = (method: string, allowed: string) => `${method} is not allowed here. Use ${allowed}.`;

// exchange/request-head.ts
export const wrongProtocol = "Use HTTP/1.1.";
export const hostMissing = "A request needs a Host header.";
export const hostInvalid = "The Host header is not valid.";
export const headerTwice = (name: string) => `The header '${name}' is given more than once.`;
export const noProxy = "This server is not a proxy. Send the path only.";
export const noEncoding = "Send the body without Content-Encoding.";

// exchange/session-guard.ts
export const noAdminToken = " The server has none: set SWITCHYARD_ADMIN_TOKEN.";
export const signIn = (hint: string) =>
  `Sign in to the dashboard, or send 'Authorization: Bearer' with the admin token.${hint}`;
export const operatorsOnly = "Only operators can do this.";
export const notPermitted = (role: string) =>
  `Your role (${role}) does not allow this. Ask an admin of your organisation.`;
export const membersSignIn = "A token with the role member cannot do this. Sign in to the dashboard instead.";
export const ownTeamsOnly = "Members put their keys into one of their own teams.";
export const adminsSetThis = (field: string) => `Members cannot set '${field}'. Ask an admin of your organisation.`;
export const operatorsInvite = "Only operators can invite or appoint operators.";
export const noTeam = (id: string) => `The account has no team '${id}'.`;
export const otherSite = "Requests from other sites are refused.";

// ops.ts
export const notReady = (problem: string | null) => `Not ready: ${problem}.`;
export const metricsProtected = "Metrics need the admin token, or a request from this machine.";
export const allCoolingDown = "all are cooling down after failures";

// overload/body-budget.ts
export const bodiesFull = "The gateway holds too many request bodies. Try again in a moment.";
export const keyBodiesFull =
  "This key's request bodies take up all the memory that one key may use. Send fewer at once.";

// overload/rejection.ts
export const inFlightFull = "The gateway is at its limit of concurrent requests. Try again in a moment.";
export const overloaded = "The gateway is overloaded. Try again in a moment.";
export const shortOfMemory = "The gateway is short of memory. Try again in a moment.";

// v1/feedback.ts
export const requestIdRequired = "'request_id' is required: the X-Request-Id of the response.";
export const feedbackRequired =
  "Send a 'score' from 0 (useless) to 1 (right), or the 'tier' that the request should have had.";
export const invalidComment = (most: number) => `'comment' must be a text of at most ${most} characters.`;
export const noRequest = (id: string) => `No request '${id}' in this account. Send the X-Request-Id of a response.`;

// v1/key-admission.ts
export const keyBusy = (limit: number | null) =>
  `This key has ${limit} requests running, which is its limit. Retry when one of them is done.`;

// v1/routes.ts
export const loopDetected = "The request came back to this gateway, so no provider can answer it here.";
/** For the operator. */
export const removeLoop =
  "A provider's baseUrl is the address of this gateway, or of one that calls it. Remove that provider.";

// v1/models.ts
export const modelNotAvailable = (id: string) => `Model '${id}' isn't available to this key. See GET /v1/models.`;

// v1/request-record.ts
export const fieldRefused = (field: string) => `'${field}' was refused. Turn on content logging for the whole message.`;

// sockets
export const invalidHandshake = "The WebSocket handshake is not valid: version 13 and a key of 16 bytes are needed.";
export const tooManyConnections = (most: number) => `This key has ${most} WebSocket connections open. Close some.`;
export const tooManyTurns = (most: number) =>
  `${most} responses wait on this connection. Wait for some of them to end.`;
export const turnInterrupted = "The response was interrupted. Send the request again.";
export const unknownEvent = (type: string) => `Unknown event '${type.slice(0, 60)}'. Send 'response.create'.`;
export const noLanes =
  "'stream_id' is not supported: responses of a connection run one after another. Open another connection.";
export const noBackgroundHere = "A response in the background needs POST /v1/responses.";
export const connectionTooOld = (minutes: number) => `A connection lasts ${minutes} minutes. Open a new one.`;

// realtime
export const webSocketRequired = "A realtime session needs a WebSocket. Open one at this address.";
export const modelInQuery = "Name the model in the address: /v1/realtime?model=MODEL.";
export const noCalls = "Calls over WebRTC and SIP are not served here. Open a WebSocket with 'model'.";
export const secretForModel = (model: string) => `This client secret opens sessions of '${model}' alone.`;
export const invalidSecret = "The client secret isn't valid or has expired. Make a new one with your API key.";
export const secretTooLong = "The session is too long for a client secret. Send it in 'session.update' instead.";
export const sessionObject = "'session' must be an object.";
export const expiresAfterObject = "'expires_after' must be an object.";
export const sessionModelChanged = "The model of a session can't change. Open another session.";
export const sessionIdle = "The session was idle for too long. Open a new one.";
export const sessionShutDown = "The gateway is shutting down. Open a new session.";
export const clientLeft = "the client disconnected";
export const providerLeft = (code: number | null) =>
  `The provider ended the session${code === null ? "" : ` with code ${code}`}. Open a new one.`;

// v1/caches.ts
export const cacheTooLarge = (bytes: number) => `A cached content can have ${bytes} bytes at most.`;
export const invalidModelName = "'model' must be the name of a model.";
export const displayNameTooLong = (most: number) => `'displayName' may have ${most} characters.`;
export const oneEnd = "Send either 'ttl' or 'expireTime'.";
export const invalidTtl = "'ttl' must be a number of seconds, such as '3600s'.";
export const invalidEnd = "'expireTime' must be a time in the future, such as '2027-01-31T12:00:00Z'.";
export const onlyTheEnd = "Only 'ttl' or 'expireTime' can be changed.";

// v1/chat/stored.ts
export const completionNotFound = (id: string) => `Chat completion with id '${id}' not found.`;
export const unknownFilter = (name: string) => `'${name}' must be a name without spaces.`;

// v1/responses/compact.ts
export const compactModelRequired = "'model' is missing: a model's id, or \"auto\".";
export const nothingToCompact = "There is nothing to compact: send 'input', 'previous_response_id' or 'conversation'.";
export const invalidInput = "'input' must be a string or an array of input items.";
export const noSummary = "The model returned no summary. Send the request again.";

// v1/responses/conversations.ts
export const invalidItems = "'items' must be an array of items.";
export const invalidMetadata = (names: number, nameLength: number, textLength: number) =>
  `'metadata' can have at most ${names} names of ${nameLength} characters, with texts of ${textLength}.`;
export const untypedItems = "'items' must be an array of items, each with a 'type' or a 'role'.";
export const tooManyItems = (most: number) => `At most ${most} items can be added at once.`;

// v1/responses/paging.ts
export const invalidOrder = "'order' must be asc or desc.";
export const notInRange = (name: string, least: number, most: number) =>
  `'${name}' must be a whole number from ${least} to ${most}.`;
export const notBoolean = (name: string) => `'${name}' must be true or false.`;
export const itemNotFound = (id: string) => `Item with id '${id}' not found.`;

// v1/batches/files.ts
export const fileNotFound = (id: string) => `File with id '${id}' not found.`;
export const sendForm = "Send the file as multipart/form-data.";
export const oneFile = "Send exactly one file, as 'file' with a file name.";
export const filesFull = ({ bytes, files }: { readonly bytes: number; readonly files: number }) =>
  `An account may have ${files} files with ${Number((bytes / MB).toFixed(2))} MB in total. Delete some first.`;

// v1/batches/batches.ts
export const batchNotFound = (id: string) => `Batch with id '${id}' not found.`;
export const tooManyFiles = (most: number) => `A request may name ${most} files.`;
export const filesTooLong = (limit: number) =>
  `The request is longer than ${limit} bytes with the files that it names. Name fewer or shorter files.`;
export const notFileObject = "'file' must be an object.";
export const notFileId = "'file.name' must be 'files/' and 1 to 40 lowercase letters, digits and dashes.";
export const otherOffset = (size: number) => `The upload has ${size} bytes. Go on there.`;
export const sendFilePieces =
  "Announce the file with 'X-Goog-Upload-Command: start', or send it as multipart/related with its metadata.";
export const fileExists = "There is a file with this name already. Delete it, or choose another name.";
export const sendPart = "Send the part as a form (multipart/form-data) with the file 'data'.";
export const onePart = "Send exactly one file as 'data'.";
export const notFileName = "'filename' must be a text with at least one character.";
export const notExpiry = "'expires_after' must be an object with 'anchor' and 'seconds'.";
export const notMimeType = "'mime_type' must be a media type such as application/jsonl.";
export const notBytes = (name: string) => `'${name}' must be the length of the file in bytes, at least 1.`;
export const notPartIds = "'part_ids' must be a list of the ids of the parts, in the order of the file.";
export const notMd5 = "'md5' must be 32 hexadecimal digits.";
export const otherMd5 = "The parts have another MD5 sum. Send the broken part again, or leave out 'md5'.";
export const unknownPart = (id: string) => `This upload has no part '${id}', or it is named twice.`;
export const otherLength = (bytes: number, announced: number) =>
  `The parts have ${bytes} bytes, but the upload was announced with ${announced}.`;
export const uploadTooLong = (announced: number) =>
  `The parts of this upload are longer than the ${announced} bytes that were announced. Cancel it and begin again.`;
export const uploadOver = (status: string) => `The upload is ${status}, so nothing can be done with it any more.`;
export const uploadNotFound = (id: string) => `Upload with id '${id}' not found. Uploads end after an hour.`;
export const batchOver = (status: string) => `The batch is ${status}, so it cannot be cancelled.`;
export const batchRuns = "The batch still runs. Wait for its end, or cancel it.";
export const batchesFull = (bytes: number) =>
  `The requests in batches of an account may take up ${Number((bytes / MB).toFixed(2))} MB. Wait until some have run.`;
export const batchesOff = "This gateway runs no batches.";
export const inputFileRequired = "'input_file_id' must be the id of an uploaded file.";
export const inputFilePurpose = "'input_file_id' must be a file that was uploaded for the purpose batch.";
export const metadataTooLong = (most: number) => `'metadata' may have ${most} characters as JSON.`;
export const metadataObject = "'metadata' must be an object.";
export const maxCost = "'service_max_cost_usd' must be a number from 0 to 1000000.";
export const tooManyLines = (most: number) => `A batch has at most ${most} lines.`;
export const resultLost = "This request was charged, but its result was lost with the process that ran it.";
export const emptyFile = "The file has no lines.";
export const resultFile = "This file goes with its batch and cannot be deleted alone.";

// v1/responses/stored.ts
export const notCancellable = "Only a response that was created with 'background: true' can be cancelled.";
export const responseNotFound = (id: string) => `Response with id '${id}' not found.`;
export const processStopped = "The process that ran this response stopped before it was done.";

// v1/routing-debug.ts
export const promptRequired =
  "'prompt' is required: the user message to classify. A conversation in the field of your format will do instead.";

// scim
export const scimToken = "Send a SCIM token of the organisation: Authorization: Bearer scim_… An admin makes one.";
export const scimActor = (name: string) => `SCIM token ${name}`;
export const scimAttribute = (name: string) => `Filters by '${name}' are not supported.`;
export const scimNumber = (name: string) => `'${name}' must be a whole number.`;
export const noResource = "There is no such resource.";
