/** A text by its lines, which are counted from 0. */
export class Lines {
  readonly text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.#starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  rowOf(at: number): number {
    return this.#starts.findLastIndex((start) => start <= at);
  }

  offset(row: number, column: number): number {
    return (this.#starts[row] ?? 0) + column;
  }

  /** The word or sign that begins there. */
  after(at: number): string {
    return /^(?:[\w$#]+|.)/.exec(this.text.slice(at, at + 40))?.[0] ?? '';
  }

  /** Each line that is not empty: where it begins past its spaces, and what stands there. */
  begin(): { row: number; column: number; offset: number; code: string }[] {
    return this.#starts.flatMap((start, row) => {
      const line = this.text.slice(start, this.#starts[row + 1]);
      const column = line.search(/\S/);
      return column < 0 ? [] : [{ row, column, offset: start + column, code: line.trim() }];
    });
  }
}
