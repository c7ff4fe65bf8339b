// A Dockerfile as data, as far as ours goes: stages with their instructions, in order.

interface Instruction {
  readonly word: string;
  readonly text: string;
}

export interface Stage {
  /** What it begins from, with arguments filled in. */
  readonly base: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

export interface Copy {
  /** The stage it copies from; null for the build context. */
  readonly from: string | null;
  readonly sources: readonly string[];
  readonly target: string;
}

export function parseDockerfile(text: string): readonly Stage[] {
  const joined = text.replace(/^\s*#.*\n/gm, "").replace(/\\\n\s*/g, "");
  const lines = joined.split("\n").filter((line) => line.trim() !== "");
  const instructions = lines.map((line) => {
    const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    return { word: word.toUpperCase(), text: rest };
  });
  const values = new Map<string, string>();
  const stages: { base: string; name: string | null; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    if (instruction.word === "FROM") {
      const [, base = "", name = null] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(instruction.text) ?? [];
      stages.push({ base: fill(base, values), name, instructions: [] });
    } else if (stages.length > 0) stages.at(-1)?.instructions.push(instruction);
    else {
      const [name = "", value = ""] = instruction.text.split("=");
      values.set(name, value);
    }
  }
  return stages;
}

export function copiesOf({ instructions }: Stage): readonly Copy[] {
  return instructions
    .filter(({ word }) => word === "COPY")
    .map(({ text }) => {
      const words = text.split(/\s+/);
      const from = /^--from=(.+)$/.exec(words[0] ?? "")?.[1] ?? null;
      const paths = words.filter((word) => !word.startsWith("--"));
      return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? "" };
    });
}

export function environmentOf({ instructions }: Stage): Readonly<Record<string, string>> {
  const pairs = instructions.filter(({ word }) => word === "ENV").flatMap(({ text }) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string]));
}

/** The last of a kind: the one that counts. */
export function lastOf({ instructions }: Stage, word: string): string | null {
  return instructions.findLast((instruction) => instruction.word === word)?.text ?? null;
}

/** The words of `["a", "b"]`; throws for the shell form, in which signals do not arrive. */
export function execForm(text: string): readonly string[] {
  const words = JSON.parse(text) as unknown;
  if (!Array.isArray(words) || words.some((word) => typeof word !== "string")) throw new Error(`not words: ${text}`);
  return words as string[];
}

function fill(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name: string) => values.get(name) ?? "");
}
