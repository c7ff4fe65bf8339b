// The limits that a schema of the contract states, each with a value at it and a value beyond it.

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly minProperties?: number;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Limit {
  /** The field, from the body inwards. */
  readonly path: readonly string[];
  readonly keyword: string;
  /** Undefined where only what lies beyond can be tried. */
  readonly at?: unknown;
  readonly beyond: unknown;
}

/** Values for fields whose text must mean something, by the name of the field. */
export interface Fillers {
  readonly text: Readonly<Record<string, (length: number) => string>>;
  readonly item: Readonly<Record<string, unknown>>;
}

/** Every limit of a body. `undefined` as the value beyond means that the field is left out. */
export function limitsOf(schema: object, fillers: Fillers, path: readonly string[] = []): readonly Limit[] {
  const { properties = {}, required = [], additionalProperties } = schema as Schema;
  const unknown = { path: [...path, "unheardOf"], keyword: "additionalProperties", beyond: 1 };
  const absent = required.map((name) => ({ path: [...path, name], keyword: "required", beyond: undefined }));
  const fields = Object.entries(properties).flatMap(([name, field]) => fieldLimits(field, fillers, [...path, name]));
  return [...(additionalProperties === false ? [unknown] : []), ...absent, ...fields];
}

function fieldLimits(field: Schema, fillers: Fillers, path: readonly string[]): readonly Limit[] {
  const choices = (field.anyOf ?? [field]).flatMap((choice) => choice.anyOf ?? [choice]);
  return choices.flatMap((choice) => [
    ...valueLimits(choice, fillers, path),
    ...(choice.properties === undefined ? [] : limitsOf(choice, fillers, path)),
  ]);
}

function valueLimits(schema: Schema, fillers: Fillers, path: readonly string[]): readonly Limit[] {
  const name = path.at(-1) ?? "";
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const text = fillers.text[name] ?? ((length: number) => "1".repeat(length));
  const item = fillers.item[name] ?? schema.items?.enum?.[0] ?? "1";
  const items = (count: number): unknown[] => Array.from({ length: count }, () => item);
  const limit = (keyword: string, at: unknown, beyond: unknown): Limit => ({ path, keyword, at, beyond });
  return [
    ...(schema.enum === undefined ? [] : [limit("enum", schema.enum.at(-1), "UNHEARD_OF")]),
    ...(minLength === undefined ? [] : [limit("minLength", text(minLength), text(minLength - 1))]),
    ...(maxLength === undefined ? [] : [limit("maxLength", text(maxLength), text(maxLength + 1))]),
    ...(schema.pattern === undefined ? [] : [{ path, keyword: "pattern", beyond: "a\u0000b" }]),
    ...(minimum === undefined ? [] : [limit("minimum", minimum, minimum - 1)]),
    ...(maximum === undefined ? [] : [limit("maximum", maximum, maximum + 1)]),
    ...(minItems === undefined ? [] : [limit("minItems", items(minItems), items(minItems - 1))]),
    ...(maxItems === undefined ? [] : [limit("maxItems", items(maxItems), items(maxItems + 1))]),
  ];
}

/** The body with one field set, or left out. */
export function withField(body: object, [name, ...rest]: readonly string[], value: unknown): object {
  const fields = body as Readonly<Record<string, unknown>>;
  if (name === undefined) return body;
  if (rest.length > 0) return { ...fields, [name]: withField((fields[name] ?? {}) as object, rest, value) };
  const { [name]: _, ...others } = fields;
  return value === undefined ? others : { ...others, [name]: value };
}
