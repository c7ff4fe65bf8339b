// Bytes in several pieces of memory, to be sent one after the other: a long body is not copied to change a word of it.

export class BytePieces {
  readonly pieces: readonly Buffer[];
  readonly length: number;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  toString(encoding?: BufferEncoding): string {
    return inOnePiece(this).toString(encoding);
  }
}

export function inOnePiece(bytes: Buffer | BytePieces): Buffer {
  return bytes instanceof BytePieces ? Buffer.concat(bytes.pieces, bytes.length) : bytes;
}
