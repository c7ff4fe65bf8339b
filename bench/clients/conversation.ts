// A conversation of an agent, request by request: each brings a new call with its result and a new ask, after a history
// that came before. After some requests another conversation begins, with the same instructions and tools. So a server
// that remembers what it has read gains no more than it would with real clients.

/** Stands in every message of one conversation but its instructions. */
export const CONVERSATION_MARK = "conv-00000000";
/** Stands in the newest messages of one request. */
export const TURN_MARK = "turn-00000000";

/** Length of a conversation, in requests. */
const REQUESTS = 10;
const DIGITS = 8;

let conversations = 0;
let turns = 0;

/** Gives the bytes of the next request; they are good until it is called again. Bodies without marks stay the same. */
export function createConversation(prepared: Buffer): () => Buffer {
  const request = Buffer.from(prepared);
  const inConversation = placesOf(request, CONVERSATION_MARK);
  const inTurn = placesOf(request, TURN_MARK);
  // Conversations do not all end at the same time.
  let sent = Math.floor(Math.random() * REQUESTS);
  writeNumber(request, inConversation, conversations++);
  return () => {
    if (sent++ % REQUESTS === 0) writeNumber(request, inConversation, conversations++);
    writeNumber(request, inTurn, turns++);
    return request;
  };
}

/** Offsets of the digits of each mark. */
function placesOf(request: Buffer, mark: string): readonly number[] {
  const places: number[] = [];
  for (let at = request.indexOf(mark); at >= 0; at = request.indexOf(mark, at + 1)) {
    places.push(at + mark.length - DIGITS);
  }
  return places;
}

function writeNumber(request: Buffer, places: readonly number[], number: number): void {
  const digits = String(number).padStart(DIGITS, "0");
  for (const place of places) request.write(digits, place, "latin1");
}
