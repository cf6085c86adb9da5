/** One mistake is allowed for this many letters. */
const LETTERS_A_MISTAKE = 4;

/**
 * The known word that is closest to a misspelt one: the fewest mistakes, at most one in four
 * letters (one in shorter words). Case, `_` and `-` do not count.
 * @returns undefined if no known word is close enough
 */
export function closestMatch(word: string, known: readonly string[]): string | undefined {
  const plain = plainly(word);
  let most = Math.max(1, Math.floor(plain.length / LETTERS_A_MISTAKE));
  let found: string | undefined;
  for (const candidate of known) {
    const other = plainly(candidate);
    // The difference in length is a lower bound, so that a very long word costs no more than a
    // short one.
    if (Math.abs(other.length - plain.length) > most) continue;
    const mistakes = editDistance(plain, other);
    if (mistakes > most) continue;
    found = candidate;
    // Only a closer word replaces this one.
    most = mistakes - 1;
  }
  return found;
}

/**
 * Letters to insert, delete, replace or swap with their neighbour, each at most once, until one
 * word is the other (optimal string alignment distance).
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const present = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      let distance = Math.min(
        at(last, column) + 1,
        at(present, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      present.push(distance);
    }
    [beforeLast, last] = [last, present];
  }
  return at(last, to.length);
}

/** A cell outside the table counts as infinitely far. */
function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

function plainly(word: string): string {
  return word.replaceAll(/[_-]/g, '').toLowerCase();
}
