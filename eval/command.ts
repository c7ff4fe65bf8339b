// Command-line options of the programs in this folder.

/** The value after `--name`; null when it is not given. */
export function readOption(name: string): string | null {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : (process.argv[at + 1] ?? null);
}
