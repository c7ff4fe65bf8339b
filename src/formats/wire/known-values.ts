// Values that came before: an agent sends its tools and its whole history again with every turn. What equals an earlier
// value byte for byte is neither scanned nor parsed again, and takes up memory once.

/** A value of an earlier body. Nobody changes it. */
export interface KnownValue {
  /** Those that are remembered are its own: a part of a body would keep all of it. */
  readonly bytes: Buffer;
  readonly value: unknown;
  /** How many objects, arrays and elements of them it has. */
  readonly values: number;
  /** Whether its texts have one character for each byte of UTF-8, and some have more than ASCII. */
  readonly isUndecoded: boolean;
  /** Whether it has escapes that mean other characters than ASCII. */
  readonly isEscaped: boolean;
}

/** The values of one owner: how fast a request is read must tell nobody what others have sent. */
export interface OwnValues {
  /** The value that begins at this place, if the same came before. Decoded and undecoded ones are kept apart. */
  find(bytes: Buffer, at: number, isPart: boolean): KnownValue | null;
  /** Remembers a value that comes for the second time: most that come once never come again. */
  learn(known: KnownValue, isPart: boolean): void;
}

export interface KnownValues {
  of(owner: string): OwnValues;
}

/** So many bytes are hashed to find a value. A shorter one is parsed faster than found. */
const KNOWN_BYTES_MIN = 128;
/** Of values that came once, a number is kept, in two generations as well. */
const ONCE_MAX = 50_000;
/** Values that begin alike: messages that a client program opens with the same note. */
const ALIKE_MAX = 8;

/** Keeps up to `generationBytes` of values in each of two generations. Parsed, a value takes up about as much again. */
export function createKnownValues(generationBytes: number): KnownValues {
  let recent = new Map<number, KnownValue[]>();
  let older = new Map<number, KnownValue[]>();
  let keptBytes = 0;
  let [once, onceOlder] = [new Set<number>(), new Set<number>()];
  /** Whether it came before. */
  const hasCome = (sight: number): boolean => {
    if (once.has(sight) || onceOlder.has(sight)) return true;
    once.add(sight);
    if (once.size > ONCE_MAX) [once, onceOlder] = [new Set(), once];
    return false;
  };
  const keep = (key: number, known: KnownValue): void => {
    const alike = recent.get(key);
    if (alike === undefined) recent.set(key, [known]);
    else {
      if (alike.length === ALIKE_MAX) keptBytes -= (alike.shift() as KnownValue).bytes.length;
      alike.push(known);
    }
    keptBytes += known.bytes.length;
    if (keptBytes < generationBytes) return;
    older = recent;
    recent = new Map();
    keptBytes = 0;
  };
  return {
    of(owner) {
      const seeds = [seedOf(`${owner} whole`), seedOf(`${owner} part`)] as const;
      return {
        find(bytes, at, isPart) {
          if (at + KNOWN_BYTES_MIN > bytes.length) return null;
          const key = keyOf(bytes, at, seeds[isPart ? 1 : 0]);
          const fresh = matching(recent.get(key), bytes, at);
          if (fresh !== null) return fresh;
          const old = matching(older.get(key), bytes, at);
          if (old !== null) keep(key, old);
          return old;
        },
        learn(known, isPart) {
          const { bytes } = known;
          if (bytes.length < KNOWN_BYTES_MIN) return;
          const key = keyOf(bytes, 0, seeds[isPart ? 1 : 0]);
          if (hasCome(Math.imul(key ^ bytes.length, PRIME))) keep(key, { ...known, bytes: Buffer.from(bytes) });
        },
      };
    },
  };
}

/** The newest of those that begin alike comes first. */
function matching(alike: readonly KnownValue[] | undefined, bytes: Buffer, at: number): KnownValue | null {
  if (alike === undefined) return null;
  for (let place = alike.length - 1; place >= 0; place--) {
    const known = alike[place] as KnownValue;
    const end = at + known.bytes.length;
    if (end <= bytes.length && known.bytes.compare(bytes, at, end) === 0) return known;
  }
  return null;
}

/** Of FNV-1a. */
const PRIME = 0x01000193;

function seedOf(text: string): number {
  return keyOf(Buffer.from(text), 0, 0x811c9dc5);
}

function keyOf(bytes: Buffer, at: number, seed: number): number {
  let key = seed;
  const end = Math.min(bytes.length, at + KNOWN_BYTES_MIN);
  for (let place = at; place < end; place++) key = Math.imul(key ^ (bytes[place] as number), PRIME);
  return key;
}
