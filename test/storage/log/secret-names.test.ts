import t from 'tap';
import { isSecretPath, secretNames } from '../../../storage/log/secret-names.js';

t.test('a path is secret when any part of it is', async (t) => {
  for (const path of ['$input.password', '$input.items[0].body', '$input.code.length']) t.ok(isSecretPath(path), path);
  for (const path of ['$input.region', '$input.bodyguard', '$input']) t.notOk(isSecretPath(path), path);
});

t.test(
  'each place has its own names: an error stays readable in the log, and a setting is named as the environment does',
  async (t) => {
    t.ok(['password', 'secret', 'code', 'key'].every((name) => secretNames('logs').includes(name)));
    t.notOk(secretNames('logs').includes('message'));
    t.same(
      secretNames('settings').filter((name) => name !== name.toUpperCase()),
      [],
    );
  },
);
