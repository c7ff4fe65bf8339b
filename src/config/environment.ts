// Environment variables. Empty text counts as unset, and a secret may stand in a file that NAME_FILE points to.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Report } from "./report.ts";

/** Variables, as `process.env` has them. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface Variable {
  readonly text: string;
  /** `environment NAME`, as problems show it. */
  readonly place: string;
  readonly isSecret: boolean;
}

export interface Environment {
  /** The text of the variable; null when unset or empty. */
  read(name: string): Variable | null;
  /** The names that were set and asked for, in the order they were asked for. */
  used(): readonly string[];
}

interface EnvironmentInput {
  readonly variables: Variables;
  readonly cwd: string;
  /** Only these may be given as a file. */
  readonly secretNames: ReadonlySet<string>;
  readonly report: Report;
}

export function openEnvironment(input: EnvironmentInput): Environment {
  // Each variable is read once, so that a problem with it is reported once.
  const answers = new Map<string, Variable | null>();
  const usedNames: string[] = [];
  return {
    read(name) {
      const known = answers.get(name);
      if (known !== undefined) return known;
      const variable = readVariable(name, input);
      answers.set(name, variable);
      if (variable !== null) usedNames.push(variable.place.replace("environment ", ""));
      return variable;
    },
    used: () => usedNames,
  };
}

/** The value of a variable; null when it is unset or empty. */
export function variableValue(variables: Variables, name: string): string | null {
  const value = variables[name];
  return value === undefined || value.trim() === "" ? null : value.trim();
}

function readVariable(name: string, input: EnvironmentInput): Variable | null {
  const { variables, secretNames, report } = input;
  const isSecret = secretNames.has(name);
  const plain = variableValue(variables, name);
  const fileName = `${name}_FILE`;
  const file = isSecret ? variableValue(variables, fileName) : null;
  if (plain !== null && file !== null) {
    const message = `both ${name} and ${fileName} are set; keep one of them`;
    report.problems.push({ place: `environment ${name}`, message, suggestion: null });
  }
  if (plain !== null) return { text: plain, place: `environment ${name}`, isSecret };
  return file === null ? null : readSecretFile(fileName, file, input);
}

function readSecretFile(name: string, path: string, { cwd, report }: EnvironmentInput): Variable | null {
  const place = `environment ${name}`;
  try {
    const text = readFileSync(resolve(cwd, path), "utf8").trim();
    if (text !== "") return { text, place, isSecret: true };
    report.problems.push({ place, message: `the file ${path} is empty`, suggestion: null });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    report.problems.push({ place, message: `the file ${path} cannot be read (${code})`, suggestion: null });
  }
  return null;
}
