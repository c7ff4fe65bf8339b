// `${NAME}` references in YAML text. Braces are YAML's own signs inside `{ … }`, so before parsing each reference
// is masked by private-use characters of the same length (places stay true) and put back or replaced afterwards.

const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?\}/g;
const FIRST_MARK = 0xe100;
const MARK_COUNT = 0x1700;
const FILLER = "\ue000";
const MASKED = /([\ue100-\uf7ff])\ue000*/g;

interface Reference {
  readonly source: string;
  readonly name: string;
  readonly fallback: string | null;
  /** `$${NAME}` stands for the text `${NAME}` itself. */
  readonly isEscaped: boolean;
}

export interface Replaced {
  readonly text: string;
  readonly count: number;
  readonly unset: readonly string[];
}

export interface References {
  readonly masked: string;
  restore(text: string): string;
  replace(text: string, lookUp: (name: string) => string | null): Replaced;
}

export function maskReferences(text: string): References {
  const references: Reference[] = [];
  const masked = text.replace(REFERENCE, (source: string, dollar?: string, name = "", fallback?: string) => {
    if (references.length >= MARK_COUNT) return source;
    references.push({ source, name, fallback: fallback ?? null, isEscaped: dollar !== undefined });
    return String.fromCharCode(FIRST_MARK + references.length - 1) + FILLER.repeat(source.length - 1);
  });
  const referenceOf = (mark: string): Reference | undefined => references[mark.charCodeAt(0) - FIRST_MARK];
  return {
    masked,
    restore: (value) => value.replace(MASKED, (whole, mark: string) => referenceOf(mark)?.source ?? whole),
    replace: (value, lookUp) => replaceAll(value, referenceOf, lookUp),
  };
}

function replaceAll(
  value: string,
  referenceOf: (mark: string) => Reference | undefined,
  lookUp: (name: string) => string | null,
): Replaced {
  const unset: string[] = [];
  let count = 0;
  const text = value.replace(MASKED, (whole, mark: string) => {
    const reference = referenceOf(mark);
    if (reference === undefined) return whole;
    if (reference.isEscaped) return reference.source.slice(1);
    count += 1;
    const found = lookUp(reference.name) ?? reference.fallback;
    if (found === null) unset.push(reference.name);
    return found ?? "";
  });
  return { text, count, unset };
}
