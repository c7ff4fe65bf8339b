// How a page of help is laid out.

import { formatTable } from "./table.ts";

export const EXIT_CODES: Section = [
  "Exit codes",
  indent(
    formatTable([
      ["0", "Fine"],
      ["1", "Failed"],
      ["2", "Wrong usage"],
      ["78", "The configuration has problems"],
    ]),
  ),
];

export type Section = readonly [title: string, text: string];

export function page(sections: readonly Section[]): string {
  return sections.map(([title, text]) => (title === "" ? `${text}\n` : `${title}\n${text}`)).join("\n");
}

export function lines(texts: readonly string[]): string {
  return indent(texts.map((text) => `${text}\n`).join(""));
}

export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
