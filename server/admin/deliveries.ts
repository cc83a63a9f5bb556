import type { Command } from 'commander';
import { subscriptionStats } from '../../storage/deliveries/subscription-stats.js';
import { Failure } from './answer.js';
import { id } from './arguments.js';
import type { Perform } from './session.js';

/** `delivery stats --subscription ID`: how the deliveries of one subscription fare. Reads only, within bounds. */
export function deliveryCommands(program: Command, perform: Perform): void {
  const noun = program.command('delivery').description('callbacks of a subscription');
  noun
    .command('stats')
    .requiredOption('--subscription <id>', 'whose deliveries', id)
    .action((options: { subscription: string }) => {
      perform(async ({ db }) => {
        const stats = await subscriptionStats(db, options.subscription);
        if (!stats) throw new Failure(`there is no subscription ${options.subscription}`);
        return { subscription_id: options.subscription, ...stats };
      });
    });
}
