import t from 'tap';
import { RefusalPace } from '../../../../server/http/admission/refusal-pace.js';
import { LIMITS } from '../../../../server/http/limits.js';
import { newKeyText } from '../../../../storage/workspaces/key-format.js';
import { stall, timer } from '../../../fixture/measures.js';
import { startTestEdge } from '../../edge-fixture.js';

t.test('a node that is in time refuses at once', async (t) => {
  t.equal(new RefusalPace({ late_ms: LIMITS.held_late_ms - 1 }).hold(), undefined);
});

t.test('a late one holds refusals back, the longer the later it is, up to a bound', async (t) => {
  const sent: string[] = [];
  const hold = async (name: string, late_ms: number) => {
    const held = new RefusalPace({ late_ms }).hold();
    t.ok(held, name);
    await held;
    sent.push(name);
  };
  const longer = timer(3 * LIMITS.held_ms);
  await Promise.all([hold('very late', 1_000 * LIMITS.held_ms), hold('late', LIMITS.held_late_ms)]);
  t.strictSame(sent, ['late', 'very late']);
  t.notOk(longer.isOver, 'and not for as long as it is late');
});

t.test('while this thread is late a stranger waits for its refusal, and neither keys nor probes do', async (t) => {
  const edge = await startTestEdge(t);
  await edge.call('GET', '/v1/connections'); // the key is known, and connections are open
  const answered: string[] = [];
  const ask = async (name: string, path: string, key: string) => {
    const { status } = await edge.call('GET', path, { key });
    answered.push(`${name} ${status}`);
  };
  const asked = [
    ask('no key', '/v1/connections', ''),
    ask('wrong path', '/nowhere', ''),
    ask('wrong key', '/v1/connections', newKeyText('key')),
    ask('key', '/v1/connections', edge.key),
    ask('probe', '/healthz', ''),
  ];
  setImmediate(() => stall(3 * LIMITS.pace_step_ms));
  await Promise.all(asked);
  t.strictSame(new Set(answered.slice(0, 2)), new Set(['key 200', 'probe 200']));
  t.strictSame(answered.slice(2).sort(), ['no key 401', 'wrong key 401', 'wrong path 404']);
});
