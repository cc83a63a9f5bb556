import type { Command } from 'commander';
import type { Hint } from '../../../actors/system.js';
import { addProxy, listProxies, type NewProxy, removeProxy } from '../../../storage/connections/proxies.js';
import { notifyHints } from '../../../storage/partitions/hints.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { Failure } from '../answer.js';
import { id, proxyUrl, readAddress, region } from '../arguments.js';
import type { Perform } from '../session.js';

/** `proxy add|list|remove`; credentials are stored encrypted and never shown. */
export function proxyCommands(program: Command, perform: Perform): void {
  const noun = program.command('proxy').description('regional forward proxies');
  noun
    .command('add')
    .requiredOption('--region <code>', 'two letters', region)
    .option('--url <url>', 'http://user:password@host:port, or - to read that from standard input', (text) =>
      text === '-' ? text : proxyUrl(text),
    )
    .option('--url-file <file>', 'a file that holds it')
    .option('--untried', 'adds it without trying it', false)
    .action((options: ProxyOptions, command: Command) => {
      const source = oneSource(options, command);
      perform(
        async (session) => {
          const address = 'url' in source ? source : proxyUrl(await readAddress(source.file));
          // Without credentials there is nothing to seal.
          const ring = address.username === undefined ? keyRing([]) : await session.ring();
          if (address.username !== undefined && !ring.available) {
            throw new Failure('credentials cannot be sealed: there is no encryption key (ENCRYPTION_KEYS)');
          }
          const tried = options.untried ? null : await (await trials()).trialOf(session.config, address);
          const row = await session.db.transaction(async (tx) => {
            const added = await addProxy(tx, ring, { region: options.region, ...address });
            await session.record(tx, [['proxy', added.id]], { details: { region: added.region } });
            return added;
          });
          if ('url' in source && source.password) process.stderr.write(PASSWORD_IN_ARGUMENTS);
          return { proxy_id: row.id, region: row.region, tried };
        },
        { action: 'proxy.add', database: 'made' },
      );
    });
  noun.command('list').action(() => {
    perform(
      async ({ db }) => ({
        proxies: (await listProxies(db)).map(({ id, region, url, active }) => ({ proxy_id: id, region, url, active })),
      }),
      { action: 'command.read' },
    );
  });
  noun
    .command('remove')
    .requiredOption('--proxy <id>', 'the proxy to remove', id)
    .action((options: { proxy: string }) => {
      perform(
        async ({ db, record }) => {
          const unpinned = await db.transaction(async (tx) => {
            const removed = await removeProxy(tx, options.proxy);
            if (!removed) throw new Failure(`there is no proxy ${options.proxy}`);
            await record(tx, [['proxy', options.proxy]]);
            return removed;
          });
          await tellOwners(db, unpinned);
          return { proxy_id: options.proxy };
        },
        { action: 'proxy.remove' },
      );
    });
}

/** The owners look at these connections now; what is not told here their slow poll finds. */
async function tellOwners(db: Database, connectionIds: string[]): Promise<void> {
  const hints = connectionIds.map((connectionId): Hint => ({ type: 'unpinned', connectionId }));
  await notifyHints(
    db,
    hints.map((hint) => JSON.stringify(hint)),
  ).catch(() => {});
}

/** Loaded when it is wanted: it brings what drives a browser, for which every other command would wait. */
const trials = () => import('./proxy-trial.js');

/** Written when the work is done: an error stays one line. */
const PASSWORD_IN_ARGUMENTS =
  "warning: the password in --url shows in the list of processes and in the shell's history: use --url-file or --url -\n";

type Address = Omit<NewProxy, 'region'>;

interface ProxyOptions {
  region: string;
  untried: boolean;
  url?: Address | '-';
  urlFile?: string;
}

/** The address itself, or where to read it from. */
function oneSource({ url, urlFile }: ProxyOptions, command: Command): Address | { file: string } {
  if ((url === undefined) === (urlFile === undefined)) command.error('give one of --url and --url-file');
  if (urlFile !== undefined) return { file: urlFile };
  return typeof url === 'object' ? url : { file: '-' };
}
