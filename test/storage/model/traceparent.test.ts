import t from 'tap';
import { parseTraceparent, traceIdOf } from '../../../storage/model/traceparent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${PARENT}-01`;

t.test('a traceparent that the standard calls valid is taken, any other counts as absent', (t) => {
  t.equal(parseTraceparent(VALID), VALID);
  t.equal(traceIdOf(VALID), TRACE);
  t.equal(parseTraceparent(`cc-${TRACE}-${PARENT}-03-what-comes-later`), `00-${TRACE}-${PARENT}-03`);
  t.equal(parseTraceparent(`cc-${TRACE}-${PARENT}-03`), `00-${TRACE}-${PARENT}-03`);
  for (const wrong of [
    ...['', 'x', `${VALID}-more`, `${VALID}.`, ` ${VALID}`, VALID.toUpperCase(), `${VALID},${VALID}`],
    ...[`ff-${TRACE}-${PARENT}-01`, `00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`],
    ...[`cc-${TRACE}-${PARENT}-03.later`, `00-${TRACE}-${PARENT}`, `0-${TRACE}-${PARENT}-01`],
  ])
    t.equal(parseTraceparent(wrong), null, wrong);
  t.end();
});
