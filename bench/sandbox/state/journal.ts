import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Everything that must outlive the process, as one append-only file of JSON lines. A record is in the file before
 * the answer that speaks of it is sent, so a killed process forgets nothing it acknowledged; the half line a kill
 * may leave behind is cut off at the next start.
 */
export class Journal<Record> {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  /** Opens or creates `path` and hands every record in it to `replay`, oldest first. */
  static open<Record>(path: string, replay: (record: Record) => void): Journal<Record> {
    const file = openSync(path, 'a+', 0o600);
    const bytes = readFileSync(file);
    const whole = bytes.lastIndexOf(0x0a) + 1;
    if (whole < bytes.length) ftruncateSync(file, whole);
    for (let from = 0; from < whole; ) {
      const end = bytes.indexOf(0x0a, from);
      replay(JSON.parse(bytes.toString('utf8', from, end)) as Record);
      from = end + 1;
    }
    return new Journal<Record>(file);
  }

  /** Returns once the record is with the operating system: it survives SIGKILL of this process. */
  append(record: Record): void {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    for (let written = 0; written < line.length; ) written += writeSync(this.#file, line, written);
  }

  close(): void {
    fsyncSync(this.#file);
    closeSync(this.#file);
  }
}
