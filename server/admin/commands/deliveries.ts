import type { Command } from 'commander';
import { type SubscriptionStats, subscriptionStats } from '../../../storage/deliveries/subscription-stats.js';
import { Failure } from '../answer.js';
import { id } from '../arguments.js';
import { durationInWords } from '../duration-words.js';
import type { Perform } from '../session.js';
import { deliveryListCommand } from './lists.js';

/** `delivery list`, `delivery stats --subscription ID`: the deliveries of one subscription in numbers. Reads only, a bounded number of rows. */
export function deliveryCommands(program: Command, perform: Perform): void {
  const noun = program.command('delivery').description('callbacks of a subscription');
  deliveryListCommand(noun, perform);
  noun
    .command('stats')
    .requiredOption('--subscription <id>', 'whose deliveries', id)
    .action((options: { subscription: string }) => {
      perform(
        async ({ db }) => {
          const stats = await subscriptionStats(db, options.subscription);
          if (!stats) throw new Failure(`there is no subscription ${options.subscription}`);
          return { subscription_id: options.subscription, ...rounded(stats) };
        },
        { action: 'command.read' },
      );
    });
}

/** As exact as a person reads it, with the age of the oldest in words. */
function rounded({ oldest_pending_s, last_24h, ...stats }: SubscriptionStats) {
  const whole = (value: number | null) => value && Math.round(value);
  return {
    ...stats,
    oldest_pending_s: whole(oldest_pending_s),
    oldest_pending: oldest_pending_s === null ? null : durationInWords(oldest_pending_s * 1000),
    last_24h: { ...last_24h, p50_ms: whole(last_24h.p50_ms), p99_ms: whole(last_24h.p99_ms) },
  };
}
