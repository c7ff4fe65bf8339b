// The tokens of output that no provider counted, estimated from what it sent: about four Latin characters a token, but
// at least one for each delta and for each character of any other script.

const LATIN_CHARACTERS_PER_TOKEN = 4;

export class OutputMeter {
  #deltas = 0;
  #latin = 0;
  #others = 0;

  /** One piece of output; an empty one does not count. */
  add(text: string): void {
    if (text === "") return;
    this.#deltas += 1;
    let latin = 0;
    for (let at = 0; at < text.length; at += 1) if (isLatin(text.charCodeAt(at))) latin += 1;
    this.#latin += latin;
    this.#others += text.length - latin;
  }

  get deltas(): number {
    return this.#deltas;
  }

  get tokens(): number {
    return Math.max(this.#deltas, this.#others + Math.ceil(this.#latin / LATIN_CHARACTERS_PER_TOKEN));
  }
}

/** Estimates the tokens of a text that came in one piece. */
export function outputTokensOf(text: string): number {
  const meter = new OutputMeter();
  meter.add(text);
  return meter.tokens;
}

/** ASCII, the accented letters of Latin alphabets, and those of Vietnamese. */
function isLatin(code: number): boolean {
  return code < 0x250 || (code >= 0x1e00 && code < 0x1f00);
}
