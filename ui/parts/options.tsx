// Options that can change at run time: the control of one, and the switch for stored prompts where it is missed.

import { useState } from "preact/hooks";
import { call, useLoad } from "../api.ts";
import { Button } from "../kit/button.tsx";
import { Check } from "../kit/field.tsx";
import { Shown } from "../kit/states.tsx";
import { useTask } from "../kit/task.tsx";
import { showToast } from "../kit/toast.tsx";
import type { GatewaySettings } from "../types.ts";
import * as TEXT from "./text.ts";

export type GatewayOption = GatewaySettings["options"][number];

/** Converts a typed text into a value of the configuration, which has numbers and truth values, too. */
export function typedOption(typed: string): unknown {
  const text = typed.trim();
  if (text === "true" || text === "false") return text === "true";
  return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
}

/** A change is a version of the configuration, so History can take it back. */
export function OptionField({ option: { path, value } }: { readonly option: GatewayOption }) {
  const [text, setText] = useState<string | null>(null);
  const { problem, isBusy, run } = useTask();
  const save = (next: string): Promise<void> => {
    const body = { options: { [path ?? ""]: typedOption(next) } };
    return run(call("PATCH", "/api/settings", { body }), () => {
      setText(null);
      showToast(TEXT.optionSaved(path ?? ""));
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void save(text ?? "");
  };
  if (value === "true" || value === "false") {
    return (
      <>
        <Check label={TEXT.on} isOn={value === "true"} onChange={(isOn) => void save(String(isOn))} />
        {problem}
      </>
    );
  }
  return (
    <form class="row" onSubmit={submit}>
      <input
        aria-label={path ?? ""}
        value={text ?? value ?? ""}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text !== null && (
        <Button type="submit" isBusy={isBusy}>
          {TEXT.save}
        </Button>
      )}
      {problem}
    </form>
  );
}

/** Turns content logging on, or says where it was turned off. For operators. */
export function ContentSwitch() {
  const settings = useLoad<GatewaySettings>("/api/settings");
  const { problem, isBusy, run } = useTask();
  const turnOn = (): Promise<void> => {
    const body = { options: { [CONTENT]: true } };
    return run(call("PATCH", "/api/settings", { body }), () => showToast(TEXT.contentIsOn));
  };
  return (
    <Shown load={settings} rows={1}>
      {({ options }) => {
        const option = options.find(({ path }) => path === CONTENT);
        if (option?.value === "true") return <p>{TEXT.contentFromNow}</p>;
        if (option?.locked) return <p>{TEXT.contentLocked(option.locked.place)}</p>;
        return (
          <>
            <p>{TEXT.contentHint}</p>
            <Button isBusy={isBusy} onClick={turnOn}>
              {TEXT.storeContent}
            </Button>
            {problem}
          </>
        );
      }}
    </Shown>
  );
}

const CONTENT = "logging.content";
