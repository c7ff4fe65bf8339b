// A table from 32-bit integers to small positive ones, filled once and asked for every word of a text: several times
// faster than a Map.

export class IntTable {
  private readonly keys: Int32Array;
  private readonly values: Uint16Array;
  private readonly shift: number;
  private size = 0;

  /** `bits` has room for half of 2^bits keys: fuller tables search long. */
  constructor(bits: number) {
    this.keys = new Int32Array(1 << bits);
    this.values = new Uint16Array(1 << bits);
    this.shift = 32 - bits;
  }

  /** 0 where the key is not known. Most are not, which the small values alone tell. */
  get(key: number): number {
    const { keys, values } = this;
    let slot = Math.imul(key, SPREAD) >>> this.shift;
    for (;;) {
      const value = values[slot] as number;
      if (value === 0 || keys[slot] === key) return value;
      slot = slot + 1 === keys.length ? 0 : slot + 1;
    }
  }

  set(key: number, value: number): void {
    if (value < 1 || value > 0xffff) throw new Error(`${value} does not fit the table`);
    let slot = Math.imul(key, SPREAD) >>> this.shift;
    while (this.values[slot] !== 0 && this.keys[slot] !== key) slot = slot + 1 === this.keys.length ? 0 : slot + 1;
    if (this.values[slot] === 0) this.size++;
    if (this.size * 2 > this.keys.length) throw new Error("the table is too small");
    this.keys[slot] = key;
    this.values[slot] = value;
  }
}

const SPREAD = 0x9e3779b1;
