// Efforts, and the entries of chains that ask for them: the id of a model, and after an "@" the effort.

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
/** Amount of thinking that a model is asked for, from none to the most. */
export type Effort = (typeof EFFORTS)[number];

/** Efforts by the ids of models. */
export type Efforts = Readonly<Record<string, Effort>>;

/** Efforts of a model that reasons, where nothing is known of it. */
export const USUAL_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.includes(value as Effort);
}

export interface ChainEntry {
  readonly id: string;
  /** The effort to ask for; null where the model decides for itself. */
  readonly effort: Effort | null;
}

/** Vendors call the least effort by either name. */
const WORDS: ReadonlyMap<string, Effort> = new Map([...EFFORTS.map((word) => [word, word] as const), ["off", "none"]]);

/** Ids may have an "@" of their own, so the last part counts only if it is an effort and no model is called like the whole. */
export function readEntry(entry: string, isModel: (id: string) => boolean): ChainEntry {
  const at = isModel(entry) ? -1 : entry.lastIndexOf("@");
  const effort = at < 1 ? undefined : WORDS.get(entry.slice(at + 1));
  return effort === undefined ? { id: entry, effort: null } : { id: entry.slice(0, at), effort };
}

export function writeEntry({ id, effort }: ChainEntry): string {
  return effort === null ? id : `${id}@${effort}`;
}
