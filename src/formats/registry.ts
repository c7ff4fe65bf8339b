// The wire formats the gateway speaks: one row each.

import type { FormatName } from "../core/model.ts";
import { anthropicMessages } from "./anthropic/codec.ts";
import type { Format } from "./format.ts";
import { openaiChat } from "./openai-chat/codec.ts";

/** The first is spoken where a request does not tell its own. */
const FORMATS: readonly [Format, ...Format[]] = [openaiChat, anthropicMessages];

/** The registered formats by name. */
export interface Formats {
  readonly all: readonly Format[];
  /** Spoken on paths that belong to no format. */
  readonly usual: Format;
  /** Asking for a format that is not registered is a fault of ours. */
  named(name: FormatName): Format;
}

/** `additional`: formats beside those that ship. */
export function createFormats(additional: readonly Format[] = []): Formats {
  const all = [...FORMATS, ...additional];
  const byName = new Map(all.map((format) => [format.name, format]));
  return {
    all,
    usual: FORMATS[0],
    named(name) {
      const format = byName.get(name);
      if (format === undefined) throw new Error(`there is no wire format ${name}`);
      return format;
    },
  };
}
