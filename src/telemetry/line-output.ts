// The way of log lines to a file descriptor. Lines are gathered and written off the request path. A disk or reader that
// takes none never stops the process: such lines are dropped and counted, and the next batch reports how many were lost.

import { write, writeSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { LogOutput } from "../core/log.ts";

export interface LineOutput extends LogOutput {
  /** Text that ends with a line break. */
  write(text: string): void;
  /** Resolves when everything handed in before is written or dropped, or when it takes too long. */
  flush(): Promise<void>;
}

interface LineOutputOptions {
  readonly fd: number;
  /** True if other processes write to the same output, so that lines must not mix. */
  readonly isShared?: boolean;
  /** The line that reports lost lines once writing works again. */
  readonly reportLoss: (droppedLines: number) => string;
}

/** Bytes on their way. */
interface Batch {
  readonly bytes: Buffer;
  /** Offset of the first line, after a report of lost ones. */
  readonly linesAt: number;
  /** Dropped lines that the report covers. */
  readonly reported: number;
  /** Bytes written so far. */
  offset: number;
  isInKernel: boolean;
}

/** Every write costs a hand-over to another thread, so lines go out many at a time, at the latest after FLUSH_MS. */
const GATHERED_LENGTH_MAX = 32 * 1024;
const FLUSH_MS = 100;
/** Limit for lines that wait for a slow disk or reader. Further lines are dropped. */
const WAITING_LENGTH_MAX = 4 * 1024 * 1024;
/** Pause before a full pipe is tried again. */
const PIPE_RETRY_MS = 10;
/** A pipe takes so much at once or not at all (PIPE_BUF of Linux), so nothing of another process comes in between. */
const WHOLE_WRITE_BYTES_MAX = 4_096;
const FLUSH_MS_MAX = 1_000;
const EXIT_FLUSH_MS_MAX = 500;
const TOO_SLOW = "too slow";
const LINE_BREAK = "\n".charCodeAt(0);

export function createLineOutput({ fd, isShared = false, reportLoss }: LineOutputOptions): LineOutput {
  let gathered: string[] = [];
  let length = 0;
  let batch: Batch | null = null;
  let sending: Promise<void> | null = null;
  let dropped = 0;
  let reported = 0;
  let problem: string | null = null;
  /** The last line on disk was cut off, so the next one needs a line break before it. */
  let isCut = false;
  const sendSoon = createDelay(() => void send());
  const takeBatch = (): Batch => {
    const report = `${isCut ? "\n" : ""}${dropped > reported ? reportLoss(dropped - reported) : ""}`;
    const bytes = Buffer.from(report + gathered.join(""));
    gathered = [];
    length = 0;
    return { bytes, linesAt: Buffer.byteLength(report), reported: dropped, offset: 0, isInKernel: false };
  };
  const sendBatch = async (current: Batch): Promise<void> => {
    const failure = await writeBatch(fd, current, isShared);
    if (current.offset >= current.linesAt) reported = current.reported;
    problem = failure ?? (dropped > reported ? TOO_SLOW : null);
    if (current.offset > 0) isCut = current.bytes[current.offset - 1] !== LINE_BREAK;
    dropped += linesLeft(current);
    sending = null;
    if (length >= GATHERED_LENGTH_MAX) void send();
    else if (length > 0 || dropped > reported) sendSoon();
  };
  const send = (): Promise<void> | null => {
    if (sending !== null || (length === 0 && dropped === reported)) return sending;
    batch = takeBatch();
    sending = sendBatch(batch);
    return sending;
  };
  // After a crash too.
  process.once("exit", () => {
    if (sending !== null && batch?.isInKernel === false) writeAtExit(fd, batch.bytes.subarray(batch.offset));
    if (length > 0) writeAtExit(fd, takeBatch().bytes);
  });
  return {
    write(text) {
      if (length + text.length > WAITING_LENGTH_MAX) {
        dropped += 1;
        problem ??= TOO_SLOW;
        sendSoon();
        return;
      }
      gathered.push(text);
      length += text.length;
      if (length >= GATHERED_LENGTH_MAX) void send();
      else sendSoon();
    },
    flush: () =>
      within(FLUSH_MS_MAX, async () => {
        while (length > 0 || sending !== null) await send();
      }),
    droppedLines: () => dropped,
    problem: () => problem,
  };
}

/** Calls once, FLUSH_MS after it was first asked. Nothing wakes a process that logs nothing. */
function createDelay(call: () => void): () => void {
  let isSet = false;
  return () => {
    if (isSet) return;
    isSet = true;
    setTimeout(() => {
      isSet = false;
      call();
    }, FLUSH_MS).unref();
  };
}

const writeSome = promisify(write);

/** Returns null when the batch is written, else the code of the error. Waits for a full pipe. */
async function writeBatch(fd: number, batch: Batch, isShared: boolean): Promise<string | null> {
  while (batch.offset < batch.bytes.length) {
    batch.isInKernel = true;
    const length = (isShared ? endOfLines(batch) : batch.bytes.length) - batch.offset;
    try {
      batch.offset += (await writeSome(fd, batch.bytes, batch.offset, length)).bytesWritten;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EAGAIN") return code ?? message;
      batch.isInKernel = false;
      await delay(PIPE_RETRY_MS, undefined, { ref: false });
    }
  }
  return null;
}

/** Finds the end of the whole lines that fit into one write; a longer line goes alone. */
function endOfLines({ bytes, offset }: Batch): number {
  if (bytes.length - offset <= WHOLE_WRITE_BYTES_MAX) return bytes.length;
  const last = bytes.lastIndexOf(LINE_BREAK, offset + WHOLE_WRITE_BYTES_MAX - 1);
  return last > offset ? last + 1 : bytes.indexOf(LINE_BREAK, offset) + 1 || bytes.length;
}

function linesLeft({ bytes, linesAt, offset }: Batch): number {
  let count = 0;
  for (const byte of bytes.subarray(Math.max(linesAt, offset))) if (byte === LINE_BREAK) count += 1;
  return count;
}

/** The process cannot wait for events any more, so this blocks, for a bounded time. */
function writeAtExit(fd: number, bytes: Buffer): void {
  const endMs = performance.now() + EXIT_FLUSH_MS_MAX;
  let offset = 0;
  while (offset < bytes.length && performance.now() < endMs) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_RETRY_MS);
    }
  }
}

/** The timer keeps the process alive, since nothing else may: a pipe that is full wakes nobody. */
function within(ms: number, work: () => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work().then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
