// The same request in the languages people call it from, with address and key filled in.

import { useState } from "preact/hooks";
import { CopyBlock } from "./copy.tsx";
import { type SnippetCall, WRITERS } from "./snippet-text.ts";
import { Tabs } from "./tabs.tsx";
import * as TEXT from "./text.ts";

/** Props of the snippets. Their address is that of this page, so the programs run as pasted. */
interface SnippetsProps {
  readonly call: Omit<SnippetCall, "origin">;
  readonly label: string;
  /** The same for the command line, where there is a command for it. */
  readonly cli?: string;
}

/** One tab per language. */
export function Snippets({ call, label, cli }: SnippetsProps) {
  const [chosen, setChosen] = useState("curl");
  const texts = Object.entries(WRITERS).map(
    ([id, write]) => [id, write({ ...call, origin: location.origin })] as const,
  );
  const tabs = [...texts, ...(cli === undefined ? [] : [["CLI", cli] as const])].map(([id, text]) => ({
    id,
    label: id,
    show: () => <CopyBlock text={text} label={`${label}: ${id}`} />,
  }));
  return <Tabs label={label} tabs={tabs} chosen={chosen} onChoose={setChosen} />;
}

/** The smallest request that works, for a first try. */
export function helloBody(): Readonly<Record<string, unknown>> {
  return { model: "auto", messages: [{ role: "user", content: TEXT.examplePrompt }] };
}
