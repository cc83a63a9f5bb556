/** The test files that take longest, by name: they are started first, so that none of them is what the run waits for at its end. */
const LONGEST: readonly string[] = [
  'actors/operations/attempt/lost-answers',
  'story/two-nodes',
  'fuzz/http',
  'server/admin/admin',
  'story/durability',
  'conformance/audit',
  'server/console/live',
  'server/http/admission/workspace-rates',
  'server/routes/operations/challenge-code',
  'storage/postgres/embedded/folder-lock',
  'actors/deliveries/dispatcher',
  'server/http/keyless',
  'actors/node/ownership',
  'actors/listeners/listeners',
  'actors/deliveries/schedule/silent-destinations',
  'browser-pool/reads',
  'storage/plans/plans',
  'server/console/pages',
  'story/webhooks',
  'server/http/wire/smuggling',
  'server/routes/operations/lists',
  'actors/listeners/take-over',
  'browser-pool/pool',
  'story/start',
  'server/http/wire/bodies',
  'server/http/closing',
  'story/social',
  'server/routes/operations/operations',
  'actors/operations/orphans',
  'server/admin/commands/erase',
  'actors/deliveries/workspace-subscription',
  'server/routes/connections/connection-removal',
  'story/readme',
  'browser-pool/sending',
  'storage/maintenance/removals-apart',
  'browser-pool/login',
  'actors/node/bus',
  'server/console/sessions',
  'server/console/sign-in',
  'conformance/transitions',
  'server/routes/operator/audit-stream',
];

/** Files of one of these share what the first of them has started or read, where they follow each other in one process. */
const SHARING: readonly { what: string; files: RegExp }[] = [
  {
    what: 'the service of `inSharedService`',
    files: /^(?:conformance\/(?!audit)|server\/console\/(?:pages|sign-in)$)/,
  },
  {
    what: 'the sources as `syntax.ts` and `remarks.ts` have parsed them',
    files: /^(?:citations|clocks|waits|layers|storage\/(?:child-environment|deciding-statements))$/,
  },
];

const sharing = (name: string) => SHARING.find(({ files }) => files.test(name));

/** The files in the order in which they are started. */
export function inOrder(files: readonly string[], nameOf: (file: string) => string): string[] {
  const rank = (file: string) => {
    const place = LONGEST.indexOf(nameOf(file));
    return place < 0 ? LONGEST.length : place;
  };
  return [...files].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Gives each lane its next file. What files share one lane has alone while there are such files. */
export class Queue<Lane> {
  readonly #files: string[];
  readonly #nameOf: (file: string) => string;
  readonly #shared = new Map<Lane, (typeof SHARING)[number]>();

  constructor(files: readonly string[], nameOf: (file: string) => string) {
    this.#files = [...files];
    this.#nameOf = nameOf;
  }

  /** Undefined when there is none left. */
  next(lane: Lane): string | undefined {
    const own = this.#shared.get(lane);
    this.#shared.delete(lane);
    const others = new Set(this.#shared.values());
    const shares = (file: string) => sharing(this.#nameOf(file));
    const free = (file: string) => {
      const shared = shares(file);
      return shared === undefined || !others.has(shared);
    };
    const file = (own && this.#files.find((one) => shares(one) === own)) ?? this.#files.find(free) ?? this.#files[0];
    if (file === undefined) return undefined;
    this.#files.splice(this.#files.indexOf(file), 1);
    const shared = shares(file);
    if (shared) this.#shared.set(lane, shared);
    return file;
  }
}
