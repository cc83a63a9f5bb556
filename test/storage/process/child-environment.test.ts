import t from 'tap';
import ts from 'typescript';
import { childEnvironment } from '../../../storage/process/child-environment.js';
import { everyNode, parsed, placeOf, sourceTexts } from '../../syntax.js';

t.test('a child knows where things are, and what is meant for it; no secret of the service', (t) => {
  const secrets = {
    ENCRYPTION_KEYS: 'k1:secret',
    DATABASE_URL: 'postgres://a:secret@b/c',
    GATEWAY_CLIENT_SECRET: 'secret',
  };
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  process.env = { PATH: '/bin', LC_ALL: 'C', LD_LIBRARY_PATH: '/lib', OTHER: 'other', ...secrets };
  t.strictSame(childEnvironment({ OWN: 'own' }), { PATH: '/bin', LC_ALL: 'C', LD_LIBRARY_PATH: '/lib', OWN: 'own' });
  t.match(childEnvironment({}, ['OTHER']), { OTHER: 'other' });
  t.end();
});

const STARTS = /^(?:spawn|spawnSync|execFile|execFileSync|exec|execSync|fork|chromium\.launch)$/;

t.test('every process that the service starts is given its environment', (t) => {
  const starts: string[] = [];
  for (const source of sourceTexts(['storage', 'browser-pool', 'actors', 'server']).map(parsed)) {
    everyNode(source, (node) => {
      if (!ts.isCallExpression(node) || !STARTS.test(node.expression.getText())) return;
      starts.push(placeOf(node));
      // In the call itself, or in the options that its function has made for it.
      const options = node.arguments.at(-1)?.getText() ?? '';
      const made = source.text.match(new RegExp(`\\b(?:const|let) ${options} = [^;]*\\benv: `)) !== null;
      t.ok(/\benv(?:: |,| \})/.test(options) || (/^\w+$/.test(options) && made), placeOf(node));
    });
  }
  t.ok(starts.length >= 8, `${starts.length} of them`);
  t.end();
});
