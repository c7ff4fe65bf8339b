// Form fields: a label, the control, a hint and an error that are tied to it.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
}

interface TextFieldProps extends FieldProps {
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
}

export function TextField({ value, onInput, ...props }: TextFieldProps) {
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

interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly placeholder?: string;
  readonly isFocused?: boolean;
}

export function TextArea({
  value,
  onInput,
  rows = 4,
  isCode = false,
  placeholder,
  isFocused,
  ...props
}: TextAreaProps) {
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

interface SelectFieldProps extends FieldProps {
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

export function SelectField({ value, options, onChange, ...props }: SelectFieldProps) {
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

interface CheckProps {
  readonly label: ComponentChildren;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Check({ label, isOn, onChange }: CheckProps) {
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
