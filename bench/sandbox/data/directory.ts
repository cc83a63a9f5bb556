import { type Company, makeCompanies } from './companies.js';
import { accountMember, type Member, makeMembers } from './members.js';
import { INDUSTRIES, LOCATIONS } from './words.js';

/** What a directory holds. */
interface Entries {
  companies: readonly Company[];
  members: Member[];
  byHashId: Map<string, Member>;
  byPublicId: Map<string, Member>;
}

/** Every member and company on the network, with their indexes. Owns the members; accounts add theirs. */
export class Directory {
  /** Made when the first of them is asked for: many a network is started that nobody visits. */
  #made: Entries | undefined;
  /** Word to places in `members`, ascending. Built when the first search comes: it costs more than the rest of a start. */
  #words: Map<string, number[]> | null = null;

  constructor(readonly seed: string) {}

  get companies(): readonly Company[] {
    return this.#entries.companies;
  }

  get members(): Member[] {
    return this.#entries.members;
  }

  get #entries(): Entries {
    this.#made ??= makeEntries(this.seed);
    return this.#made;
  }

  /** The member behind an account; made at the first call, the same at every other. */
  accountMember(username: string): Member {
    const entries = this.#entries;
    const made = accountMember(this.seed, username, entries.companies);
    const known = entries.byHashId.get(made.hashId);
    if (known !== undefined) return known;
    entries.members.push(made);
    register(entries, made);
    if (this.#words !== null) this.#index(this.#words, made, entries.members.length - 1);
    return made;
  }

  byHashId(hashId: string): Member | undefined {
    return this.#entries.byHashId.get(hashId);
  }

  byPublicId(publicId: string): Member | undefined {
    return this.#entries.byPublicId.get(publicId);
  }

  /** The name that conversations and frames show. */
  nameOf(hashId: string): string {
    const member = this.byHashId(hashId);
    return member === undefined ? 'Social Member' : `${member.firstName} ${member.lastName}`;
  }

  /** Members in whose text all words occur, in the directory's order; all members when there are no words. */
  withWords(words: readonly string[]): Member[] {
    if (words.length === 0) return this.members;
    const index = this.#wordIndex();
    const lists = words.map((word) => index.get(word) ?? []).sort((a, b) => a.length - b.length);
    const [shortest = [], ...others] = lists;
    const sets = others.map((list) => new Set(list));
    return shortest
      .filter((place) => sets.every((set) => set.has(place)))
      .map((place) => this.members[place] as Member);
  }

  #wordIndex(): Map<string, number[]> {
    if (this.#words === null) {
      const words = new Map<string, number[]>();
      this.members.forEach((member, place) => {
        this.#index(words, member, place);
      });
      this.#words = words;
    }
    return this.#words;
  }

  #index(words: Map<string, number[]>, member: Member, place: number): void {
    const text = [
      member.firstName,
      member.lastName,
      member.headline,
      LOCATIONS[member.location],
      INDUSTRIES[member.industry],
    ].join(' ');
    for (const word of new Set(wordsOf(text))) {
      const places = words.get(word);
      if (places === undefined) words.set(word, [place]);
      else places.push(place);
    }
  }
}

function makeEntries(seed: string): Entries {
  const companies = makeCompanies(seed);
  const entries: Entries = {
    companies,
    members: makeMembers(seed, companies),
    byHashId: new Map(),
    byPublicId: new Map(),
  };
  for (const member of entries.members) register(entries, member);
  return entries;
}

function register({ byHashId, byPublicId }: Entries, member: Member): void {
  byHashId.set(member.hashId, member);
  byPublicId.set(member.publicId, member);
}

/** A text as the search sees it: its words in lower case, punctuation gone. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}+#.]+/gu)
      ?.map((word) => word.replace(/^\.+|\.+$/g, ''))
      .filter(Boolean) ?? []
  );
}
