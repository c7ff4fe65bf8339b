// Times as text at the beginning of ids and log lines. Writing one takes about a microsecond, and all but the last digits
// stay the same for seconds, so these are remembered.

type WriteTime = (ms: number) => string;

/** Writes whole milliseconds since 1970 like `ms.toString(36)`. */
export const timeInBase36 = createTimeWriter(36, 2, (head) => head.toString(36));

/** Writes whole milliseconds since 1970 like `ms.toString(16)`. */
export const timeInHex = createTimeWriter(16, 3, (head) => head.toString(16));

/** Writes a time as `toISOString` does. */
export const isoTime = createTimeWriter(10, 3, (head) => new Date(head * 1000).toISOString().slice(0, -4), "Z");

/** `writeHead` gets the time without its last digits. */
function createTimeWriter(base: number, lastDigits: number, writeHead: (head: number) => string, end = ""): WriteTime {
  const span = base ** lastDigits;
  const tails = Array.from({ length: span }, (_, rest) => rest.toString(base).padStart(lastDigits, "0") + end);
  let lastHead = 0;
  let headText = writeHead(0);
  return (ms) => {
    const rest = ms % span;
    const head = (ms - rest) / span;
    if (head !== lastHead) {
      headText = writeHead(head);
      lastHead = head;
    }
    return headText + tails[rest];
  };
}
