import type { Command } from 'commander';
import { addProxy, listProxies, type NewProxy, removeProxy } from '../../storage/connections/proxies.js';
import { Failure } from './answer.js';
import { id, proxyUrl, region } from './arguments.js';
import type { Perform } from './session.js';

/** `proxy add|list|remove`; credentials are stored encrypted and never shown. */
export function proxyCommands(program: Command, perform: Perform): void {
  const noun = program.command('proxy').description('regional forward proxies');
  noun
    .command('add')
    .requiredOption('--region <code>', 'two letters', region)
    .requiredOption('--url <url>', 'http://user:password@host:port', proxyUrl)
    .action((options: { region: string; url: Omit<NewProxy, 'region'> }) => {
      perform(async ({ db, ring }) => {
        if (options.url.username !== undefined && !ring.available) {
          throw new Failure('credentials cannot be sealed: there is no encryption key (ENCRYPTION_KEYS)');
        }
        const row = await addProxy(db, ring, { region: options.region, ...options.url });
        return { proxy_id: row.id, region: row.region };
      });
    });
  noun.command('list').action(() => {
    perform(async ({ db }) => ({
      proxies: (await listProxies(db)).map(({ id, region, url, active }) => ({ proxy_id: id, region, url, active })),
    }));
  });
  noun
    .command('remove')
    .requiredOption('--proxy <id>', 'the proxy to remove', id)
    .action((options: { proxy: string }) => {
      perform(async ({ db }) => {
        if (!(await removeProxy(db, options.proxy))) throw new Failure(`there is no proxy ${options.proxy}`);
        return { proxy_id: options.proxy };
      });
    });
}
