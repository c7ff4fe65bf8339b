// Form fields: a label, the control, and a hint or an error that is tied to it.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Props of every field. An error takes the place of the hint and is read out. */
interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | null;
}

/** A text field with the attributes of an input that the dashboard uses. */
interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "email" | "number" | "search" | "date";
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  /** Takes the focus when the form opens. */
  readonly isFocused?: boolean;
  readonly autocomplete?: string;
  readonly maxLength?: number;
  readonly min?: string;
  readonly max?: string;
  readonly step?: string;
}

/** One line of text. Browsers fill in nothing unless `autocomplete` asks for it. */
export function TextField({ value, onInput, ...props }: TextFieldProps) {
  const id = useId();
  // The element types know one interface per input type; a field needs only the common part.
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

interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (words: string) => void;
  /** Marks the filter of the whole page, which `/` focuses. */
  readonly isFilter?: boolean;
}

/** Words to search a list for. */
export function SearchInput({ label, value, onInput, isFilter }: SearchInputProps) {
  return (
    <input
      type="search"
      data-filter={isFilter}
      aria-label={label}
      placeholder={label}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

/** Several lines of text; `isCode` is monospaced and not spell-checked. */
interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly placeholder?: string;
  readonly isFocused?: boolean;
}

/** Several lines of text. */
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

/** One choice of a select field. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

/** A choice of one out of a list. */
interface SelectFieldProps extends FieldProps {
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

/** The browser's own select, which phones show as they should. */
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

interface LabelledListProps {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

/** A list with its label before it, for a row of filters. */
export function Choice({ label, value, options, onChange }: LabelledListProps) {
  return (
    <span class="row">
      <span class="faint" aria-hidden="true">
        {label}
      </span>
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {Object.entries(options).map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}

/** A checkbox and its label. */
interface CheckProps {
  readonly label: ComponentChildren;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** The label is part of the target, so it is easy to hit. */
export function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

/** Label above, hint or error below. Both are tied to the control by id. */
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
