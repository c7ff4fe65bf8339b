// The same request in the languages people call it from, with address and key filled in.

import { useState } from "preact/hooks";
import { CopyBlock } from "./copy.tsx";
import { type Call, WRITERS } from "./snippet-text.ts";
import { Tabs } from "./tabs.tsx";

export const KEY_PLACE = "$SWITCHYARD_KEY";

export function Snippets({ call, label }: { readonly call: Omit<Call, "origin">; readonly label: string }) {
  const [chosen, setChosen] = useState("curl");
  const tabs = Object.entries(WRITERS).map(([id, write]) => ({
    id,
    label: id,
    show: () => <CopyBlock text={write({ ...call, origin: location.origin })} label={`${label}: ${id}`} />,
  }));
  return <Tabs label={label} tabs={tabs} chosen={chosen} onChoose={setChosen} />;
}

export function helloBody(): Readonly<Record<string, unknown>> {
  return { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };
}
