import type { LeaseCell } from '../../../actors/lease.js';
import type { Execution, Outcome, ProviderRuntime } from '../../../actors/operations/attempt/execution.js';
import type { Ledger, Run } from './ledger.js';
import type { Stage } from './stage.js';

/** The provider of one node of a schedule: each thing that it does is a step and stands in the ledger. */
export function steppedProvider(
  node: string,
  { stage, ledger, lease }: { stage: Stage; ledger: Ledger; lease: LeaseCell },
): ProviderRuntime {
  async function act(execution: Execution, run: Run): Promise<Outcome> {
    const { name, work } = run.entry;
    const reach = async (words: string) => {
      await stage.step(`${node}: the provider ${words} ${name}`);
      execution.signal.throwIfAborted();
    };
    await reach('works on');
    if (work === 'file') await execution.storeFile(Buffer.from('abc'));
    if (work === 'write') {
      await execution.boundary();
      ledger.write(run, execution.epoch);
      stage.note(`${node}: ${name} is written`);
    }
    await reach('ends');
    return { status: 'succeeded', result: {} };
  }
  return {
    async run(execution) {
      const name = String(execution.input.name);
      const run = ledger.begin(name, { node, leased: lease.valid(execution.connection.partition) });
      execution.signal.addEventListener('abort', () => ledger.end(run));
      stage.note(`${node}: ${name} begins`);
      try {
        return await act(execution, run);
      } finally {
        ledger.end(run);
      }
    },
    look: () => Promise.reject(new Error('nothing is looked at')),
  };
}
