// Tells when the text of a JSON object that arrives in pieces is complete. Each character is read once.

/** Fed with pieces of text in order. */
export interface ObjectScanner {
  push(text: string): void;
  readonly isComplete: boolean;
}

export function createObjectScanner(): ObjectScanner {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let hasBegun = false;

  function scan(character: string): void {
    if (isEscaped) isEscaped = false;
    else if (isInString) {
      if (character === "\\") isEscaped = true;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{" || character === "[") {
      depth += 1;
      hasBegun = true;
    } else if (character === "}" || character === "]") depth -= 1;
  }

  return {
    push(text) {
      for (const character of text) scan(character);
    },
    get isComplete() {
      return hasBegun && depth === 0;
    },
  };
}
