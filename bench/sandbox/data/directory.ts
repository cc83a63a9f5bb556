import { type Company, makeCompanies } from './companies.js';
import { accountMember, type Member, makeMembers } from './members.js';
import { INDUSTRIES, LOCATIONS } from './words.js';

/** Every member and company on the network, with their indexes. Owns the members; accounts add theirs. */
export class Directory {
  readonly companies: readonly Company[];
  readonly members: Member[];
  readonly #byHashId = new Map<string, Member>();
  readonly #byPublicId = new Map<string, Member>();
  /** Word to places in `members`, ascending. Built when the first search comes: it costs more than the rest of a start. */
  #words: Map<string, number[]> | null = null;

  constructor(readonly seed: string) {
    this.companies = makeCompanies(seed);
    this.members = makeMembers(seed, this.companies);
    for (const member of this.members) this.#register(member);
  }

  /** The member behind an account; made at the first call, the same at every other. */
  accountMember(username: string): Member {
    const made = accountMember(this.seed, username, this.companies);
    const known = this.#byHashId.get(made.hashId);
    if (known !== undefined) return known;
    this.members.push(made);
    this.#register(made);
    if (this.#words !== null) this.#index(this.#words, made, this.members.length - 1);
    return made;
  }

  byHashId(hashId: string): Member | undefined {
    return this.#byHashId.get(hashId);
  }

  byPublicId(publicId: string): Member | undefined {
    return this.#byPublicId.get(publicId);
  }

  /** The name that conversations and frames show. */
  nameOf(hashId: string): string {
    const member = this.#byHashId.get(hashId);
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

  #register(member: Member): void {
    this.#byHashId.set(member.hashId, member);
    this.#byPublicId.set(member.publicId, member);
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
