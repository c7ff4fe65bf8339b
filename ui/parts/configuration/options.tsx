// Options that can change at run time: the control of one, and the switch for stored prompts where it is missed.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Check } from "../../kit/field.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { GatewaySettings } from "../../types.ts";
import * as TEXT from "../text.ts";

export type GatewayOption = GatewaySettings["options"][number];

/** Converts a typed text into a value of the configuration, which has numbers and truth values, too. */
export function typedOption(typed: string): unknown {
  const text = typed.trim();
  if (text === "true" || text === "false") return text === "true";
  return text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
}

/** Changes an option. A text is read as a variable would be, and null resets the option. */
function useOption({ path, value, origin }: GatewayOption) {
  const { problem, isBusy, run } = useTask();
  const name = path ?? "";
  const publish = (next: unknown): Promise<unknown> =>
    call("PATCH", "/api/settings", { body: { options: { [name]: next } } });
  const undo = (): void => {
    publish(origin === "version" ? value : null).then(
      () => showToast(TEXT.undone(name)),
      (error: Error) => showToast(error.message),
    );
  };
  const save = (next: unknown, onDone: () => void = () => undefined): Promise<void> =>
    run(publish(next), () => {
      onDone();
      showToast(TEXT.optionSaved(name), { text: TEXT.undo, act: undo });
    });
  return { problem, isBusy, save };
}

/** A change is a version of the configuration, so the toast and the history can take it back. */
export function OptionField({ option }: { readonly option: GatewayOption }) {
  const { path, value, kind, words, origin } = option;
  const { problem, isBusy, save } = useOption(option);
  // A default may be no value of the list, but what happens without one.
  const isChosen = value !== null && words.includes(value);
  return (
    <>
      {kind === "switch" ? (
        <Check label={TEXT.on} isOn={value === "true"} onChange={(isOn) => void save(isOn)} />
      ) : kind === "choice" ? (
        <select
          aria-label={path ?? ""}
          value={isChosen ? value : ""}
          onChange={(event) => void save(event.currentTarget.value)}
        >
          {!isChosen && <option value="">{value ?? TEXT.notSet}</option>}
          {words.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      ) : (
        <TextOption option={option} isBusy={isBusy} onSave={save} />
      )}
      {origin === "version" && (
        <Button kind="quiet" label={TEXT.resetTo(path ?? "")} onClick={() => void save(null)}>
          {TEXT.reset}
        </Button>
      )}
      {problem}
    </>
  );
}

interface TextOptionProps {
  readonly option: GatewayOption;
  readonly isBusy: boolean;
  readonly onSave: (next: unknown, onDone: () => void) => Promise<void>;
}

/** Numbers, lists and other texts. An empty field resets the option. */
function TextOption({ option: { path, value, kind }, isBusy, onSave }: TextOptionProps) {
  const [text, setText] = useState<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    void onSave(text?.trim() === "" && kind !== "list" ? null : text, () => setText(null));
  };
  return (
    <form class="row" onSubmit={submit}>
      <input
        aria-label={path ?? ""}
        inputMode={kind === "number" ? "decimal" : undefined}
        value={text ?? value ?? ""}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text !== null && (
        <Button type="submit" isBusy={isBusy}>
          {TEXT.save}
        </Button>
      )}
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
