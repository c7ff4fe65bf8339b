// Values of routing controls as people type them: text, which is empty where nothing is asked for.

import { REQUEST_CONTROLS, type RequestControl, type Takes } from "../../src/core/requests/controls.ts";

/** Texts by the name of the control. */
export type ControlTexts = Readonly<Record<string, string>>;

/** The controls that forms have a field for. */
export const FORM_CONTROLS: readonly RequestControl[] = REQUEST_CONTROLS.filter(({ label }) => label !== undefined);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  // Checks of a cascade are nothing to type: the request asked for one.
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? "true" : value === false ? "" : String(value);
}

/** The value as a request has it; undefined where nothing is asked for, or no number is typed yet. */
function fieldValue({ kind }: Takes, text: string): unknown {
  if (text.trim() === "") return undefined;
  if (kind === "choice" || kind === "text") return text;
  if (kind === "cascade" || kind === "switch") return text === "true";
  if (kind === "names") return namesIn(text);
  return Number.isNaN(Number(text)) ? undefined : Number(text);
}

/** Names between commas; undefined where there is none. */
function namesIn(text: string): readonly string[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  const written = names.filter((name) => name !== "");
  return written.length === 0 ? undefined : written;
}

/** The value as a profile has it. An amount stays text: the gateway reads decimal text, and a number would round it. */
export function ruleValue({ kind, unset }: Takes, text: string): unknown {
  if (text.trim() === "") return unset;
  if (kind === "amount") return text.trim();
  if (kind === "cascade" || kind === "switch") return text === "true";
  if (kind === "names") return namesIn(text) ?? unset;
  return kind === "choice" ? text : Number(text);
}

/** The fields of a request, each with the value that a list of texts gives it. */
export function fieldsOf(texts: ControlTexts): Readonly<Record<string, unknown>> {
  const fields = FORM_CONTROLS.map(({ name, field, takes }) => [field, fieldValue(takes, texts[name] ?? "")] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Reads the value of each control as text, by the name of the control. Controls without a value are left out. */
export function textsOf(read: (control: RequestControl) => unknown): ControlTexts {
  const texts = FORM_CONTROLS.map((control) => [control.name, textOf(read(control))] as const);
  return Object.fromEntries(texts.filter(([, text]) => text !== ""));
}
