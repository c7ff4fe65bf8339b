// @ts-check
// Shows what is being done and for how long: one living line on a terminal, plain lines elsewhere.
// Everything goes to standard error, so that a command's own output stays clean.

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

/** @typedef {{ write(text: string): unknown, isTTY?: boolean }} Output */
/** @typedef {{ note(text: string): void, step<T>(label: string, work: () => Promise<T>): Promise<T> }} Progress */

/**
 * @param {Output} [output]
 * @returns {Progress}
 */
export function createProgress(output = process.stderr) {
  const isTerminal = output.isTTY === true && process.env.TERM !== "dumb" && !process.env.CI;
  return {
    note: (text) => void output.write(`switchyard: ${text}\n`),
    step: (label, work) => {
      const startedAtMs = Date.now();
      const elapsed = () => seconds(Date.now() - startedAtMs);
      const line = isTerminal ? livingLine(output, label, elapsed) : plainLines(output, label, elapsed);
      return work().then(
        (value) => {
          line.end(`✓ ${label} (${elapsed()})`);
          return value;
        },
        (error) => {
          line.end(`✗ ${label} (${elapsed()})`);
          throw error;
        },
      );
    },
  };
}

export function seconds(/** @type {number} */ durationMs) {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

function livingLine(/** @type {Output} */ output, /** @type {string} */ label, /** @type {() => string} */ elapsed) {
  let frame = 0;
  const draw = () => output.write(`\r\x1b[2K${FRAMES[frame++ % FRAMES.length]} ${label} ${elapsed()}`);
  draw();
  const timer = setInterval(draw, FRAME_EVERY_MS);
  return {
    end(/** @type {string} */ text) {
      clearInterval(timer);
      output.write(`\r\x1b[2K${text}\n`);
    },
  };
}

function plainLines(/** @type {Output} */ output, /** @type {string} */ label, /** @type {() => string} */ elapsed) {
  output.write(`… ${label}\n`);
  const timer = setInterval(() => output.write(`… ${label}, ${elapsed()} so far\n`), LINE_EVERY_MS);
  return {
    end(/** @type {string} */ text) {
      clearInterval(timer);
      output.write(`${text}\n`);
    },
  };
}
