// Form fields: a label, the control, a hint and an error that are tied to it.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
}

export function TextField({
  value,
  onInput,
  ...props
}: FieldProps & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "email" | "number" | "search" | "date";
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isFocused?: boolean;
  readonly autocomplete?: string;
  readonly maxLength?: number;
  readonly min?: string;
  readonly max?: string;
  readonly step?: string;
}) {
  const id = useId();
  // The types tell inputs apart more finely than a field needs to.
  const kind = { type: props.type ?? "text" } as { type: "text" };
  return (
    <Frame id={id} {...props}>
      <input
        {...kind}
        id={id}
        value={value}
        placeholder={props.placeholder}
        required={props.isRequired}
        autofocus={props.isFocused}
        autocomplete={props.autocomplete ?? "off"}
        maxLength={props.maxLength}
        min={props.min}
        max={props.max}
        step={props.step}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={`${id}-about`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Frame>
  );
}

export function TextArea({
  value,
  onInput,
  rows = 4,
  isCode = false,
  placeholder,
  isFocused,
  ...props
}: FieldProps & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly placeholder?: string;
  readonly isFocused?: boolean;
}) {
  const id = useId();
  return (
    <Frame id={id} {...props}>
      <textarea
        id={id}
        rows={rows}
        class={isCode ? "code" : ""}
        spellcheck={!isCode}
        placeholder={placeholder}
        autofocus={isFocused}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={`${id}-about`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Frame>
  );
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export function SelectField({
  value,
  options,
  onChange,
  ...props
}: FieldProps & {
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <Frame id={id} {...props}>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function Check({
  label,
  isOn,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function Frame({ id, label, hint, error, children }: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      <p id={`${id}-about`} class={error ? "error" : "hint"} role={error ? "alert" : undefined}>
        {error ?? hint}
      </p>
    </div>
  );
}
