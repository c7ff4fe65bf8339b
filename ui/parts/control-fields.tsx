// The fields of routing controls in the forms of the playground and of a profile, one for each row of their table.

import type { ComponentChildren } from "preact";
import { plainHelp } from "../../src/core/requests/control-text.ts";
import type { RequestControl } from "../../src/core/requests/controls.ts";
import { TIERS } from "../../src/core/tiers.ts";
import { SelectField, TextField } from "../kit/field.tsx";
import { TierRange } from "../kit/tier-range.tsx";
import { type ControlTexts, FORM_CONTROLS } from "./control-values.ts";
import { Quality } from "./quality.tsx";
import * as TEXT from "./text.ts";

interface ControlFieldsProps {
  readonly texts: ControlTexts;
  readonly onChange: (texts: ControlTexts) => void;
  /** Fields that stand beside the numbers of the controls. */
  readonly children?: ComponentChildren;
}

/** Tiers are a range, qualities positions; numbers and choices follow. */
export function ControlFields({ texts, onChange, children }: ControlFieldsProps) {
  const set = (name: string, text: string): void => onChange({ ...texts, [name]: text });
  const { tierFloor = "", tierCeiling = "" } = texts;
  return (
    <>
      <TierRange
        floor={tierFloor || null}
        ceiling={tierCeiling || null}
        onChange={(floor, ceiling) => onChange({ ...texts, tierFloor: floor ?? "", tierCeiling: ceiling ?? "" })}
      />
      <div class="pair">
        {QUALITIES.map(({ name, label = name }) => (
          <Quality key={name} label={label} value={texts[name] ?? ""} onChange={(text) => set(name, text)} />
        ))}
      </div>
      <div class="pair three">
        {NUMBERS.map(({ name, label = name }) => (
          <TextField
            key={name}
            label={label}
            type="number"
            min="0"
            step="any"
            value={texts[name] ?? ""}
            onInput={(text) => set(name, text)}
            placeholder={TEXT.noLimit}
          />
        ))}
        {children}
      </div>
      {NAMES.map((control) => (
        <TextField
          key={control.name}
          label={control.label ?? control.name}
          hint={plainHelp(control)}
          value={texts[control.name] ?? ""}
          onInput={(text) => set(control.name, text)}
          placeholder={TEXT.noLimit}
        />
      ))}
      {CHOICES.map((control) => (
        <SelectField
          key={control.name}
          label={control.label ?? control.name}
          hint={plainHelp(control)}
          value={texts[control.name] ?? ""}
          options={choicesOf(control)}
          onChange={(text) => set(control.name, text)}
        />
      ))}
    </>
  );
}

const NAMES = FORM_CONTROLS.filter(({ takes }) => takes.kind === "names");
const QUALITIES = FORM_CONTROLS.filter(({ takes }) => takes.kind === "quality");
const NUMBERS = FORM_CONTROLS.filter(({ takes }) => takes.kind === "amount" || takes.kind === "number");
const CHOICES = FORM_CONTROLS.filter(
  ({ takes }) =>
    takes.kind === "cascade" || takes.kind === "switch" || (takes.kind === "choice" && takes.words !== TIERS),
);

function choicesOf({ takes }: RequestControl): readonly { readonly value: string; readonly label: string }[] {
  const words = takes.kind === "choice" ? takes.words.map((word) => ({ value: word, label: word })) : ON_OFF;
  return [{ value: "", label: TEXT.asConfigured }, ...words];
}

const ON_OFF = [
  { value: "true", label: TEXT.on },
  { value: "false", label: TEXT.off },
];
