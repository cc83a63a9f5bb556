import { badRequest } from './answer.js';

/** The query of a request, read strictly: a parameter that the endpoint does not name, or that comes twice, is a 400. */
export class Query {
  readonly #values = new Map<string, string>();
  #repeated: string | null = null;

  constructor(parameters: URLSearchParams) {
    for (const [name, value] of parameters) {
      if (this.#values.has(name)) this.#repeated = name;
      this.#values.set(name, value);
    }
  }

  /** Refuses parameters that are not in `names`. Call it before reading any. */
  only(...names: string[]): this {
    if (this.#repeated !== null) throw badRequest(`${this.#repeated} comes twice.`);
    for (const name of this.#values.keys()) {
      if (!names.includes(name)) throw badRequest(`${name} is not a parameter of this endpoint.`);
    }
    return this;
  }

  text(name: string, longest: number): string | null {
    const value = this.#values.get(name);
    if (value === undefined) return null;
    if (value.trim() === '' || value.length > longest) throw badRequest(`${name} has 1 to ${longest} characters.`);
    return value;
  }

  number(name: string, low: number, high: number): number | null {
    const value = this.#values.get(name);
    if (value === undefined) return null;
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= low && number <= high)) throw badRequest(`${name} is a number from ${low} to ${high}.`);
    return number;
  }

  /** Comma-separated. */
  list(name: string, longest: number): string[] | null {
    const value = this.text(name, 4_000);
    if (value === null) return null;
    const list = value.split(',');
    if (list.length > longest || list.includes('')) throw badRequest(`${name} has 1 to ${longest} entries.`);
    return list;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | null {
    const value = this.#values.get(name);
    if (value === undefined) return null;
    const chosen = choices.find((choice) => choice === value);
    if (chosen === undefined) throw badRequest(`${name} is one of ${choices.join(', ')}.`);
    return chosen;
  }

  flag(name: string): boolean | null {
    const value = this.choice(name, ['true', 'false']);
    return value === null ? null : value === 'true';
  }
}
