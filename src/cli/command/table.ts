// Tables for people: text in columns.

const GAP = "  ";

/** Rows under each other, each column as wide as its widest cell; nothing trails. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return cells.map((row) => `${formatRow(row, widths)}\n`).join("");
}

function formatRow(row: readonly string[], widths: readonly number[]): string {
  const padded = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
  return padded.join(GAP).trimEnd();
}

/** A name chosen by someone else must not move the cursor or recolour the screen. */
function printable(cell: string): string {
  return cell.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "�");
}

function widthOf(cell: string): number {
  return [...cell].length;
}
