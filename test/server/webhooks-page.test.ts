import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { callbackBody } from '../../actors/deliveries/callback/callback-body.js';
import { callbackHeaders } from '../../actors/deliveries/callback/signature.js';
import { signingSecretJson } from '../../server/routes/subscriptions/signing-secret.js';
import { keyRing } from '../../storage/secrets/encryption.js';
import { longTest } from '../fixture/size.js';

/** The page's recipes verify what this service signs, and refuse everything else; its test vector is what the code sends. */

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'server/WEBHOOKS.md'), 'utf8');

interface Recipe {
  library: string;
  code: string;
}

const recipes = (fence: string): Recipe[] =>
  [...PAGE.matchAll(new RegExp(`^### ([^\n]+)\n\n\`\`\`${fence}\n(.*?)\n\`\`\`$`, 'gms'))].map(
    ([, library = '', code = '']) => ({ library, code }),
  );

const SECRET = 'a secret of more than 32 characters: é';
const OTHER = 'another secret of more than 32 characters';
const EVENT = '01998000-0000-7000-8000-000000000004';
const DELIVERY = '01998000-0000-7000-8000-000000000005';

const body = callbackBody(
  {
    event_id: EVENT,
    event_type: 'message_received',
    connection_id: '01998000-0000-7000-8000-000000000001',
    provider_event_id: 'message-1',
    received_at: new Date('2026-01-01T12:00:00Z'),
    event_data: '{"message_body":"Grüße, Ada"}',
    event_data_sealed: null,
  },
  keyRing([]),
);

/** A callback as a receiver gets it, and whether it is to be accepted. */
interface Case {
  what: string;
  accepted: boolean;
  body: string;
  headers: Record<string, string>;
  secret: string;
  signing_secret: string;
}

function sent(at: Date, secrets: string[]): Record<string, string> {
  const headers = callbackHeaders({ eventId: EVENT, deliveryId: DELIVERY, body, at, secrets });
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function cases(): Case[] {
  const now = new Date();
  const given = (what: string, accepted: boolean, headers = sent(now, [SECRET]), text = body.toString()): Case => ({
    ...{ what, accepted, headers, body: text },
    ...signingSecretJson(SECRET),
  });
  return [
    given('as it is sent', true),
    given('during a rotation, with the new secret', true, sent(now, [SECRET, OTHER])),
    given('during a rotation, with the earlier secret', true, sent(now, [OTHER, SECRET])),
    given('signed with another secret', false, sent(now, [OTHER])),
    given('another body', false, sent(now, [SECRET]), body.toString().replace('Ada', 'Eve')),
    given('ten minutes old', false, sent(new Date(now.getTime() - 600_000), [SECRET])),
    given('made younger', false, { ...sent(new Date(0), [SECRET]), ...timestamps(now) }),
    given('without a signature', false, { ...sent(now, [SECRET]), 'x-cs-signature': '', 'webhook-signature': '' }),
  ];
}

const timestamps = (at: Date) => {
  const { 'x-cs-timestamp': own, 'webhook-timestamp': standard } = sent(at, [SECRET]);
  return { 'x-cs-timestamp': own!, 'webhook-timestamp': standard! };
};

/** What a recipe has to say of each case: a program is given them as JSON on its stdin, and prints a list of booleans. */
function judged(t: Test, library: string, command: string, args: string[], cwd: string): void {
  const takesStandard = /standard|svix/.test(library);
  const asked = cases();
  const input = JSON.stringify(
    asked.map((one) => ({ ...one, secret: takesStandard ? one.signing_secret : one.secret })),
  );
  const run = spawnSync(command, args, { cwd, input, encoding: 'utf8' });
  t.equal(run.status, 0, `${library}: ${run.stderr}`);
  const accepted = JSON.parse(run.stdout || '[]') as boolean[];
  t.strictSame(
    asked.map(({ what }, i) => `${what}: ${accepted[i]}`),
    asked.map((one) => `${one.what}: ${one.accepted}`),
    library,
  );
}

/** A folder below the project, so that recipes find the packages. */
function folder(t: Test): string {
  mkdirSync(join(ROOT, '.data/test'), { recursive: true });
  const made = mkdtempSync(join(ROOT, '.data/test/recipes-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const atHand = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

t.test('the test vector is a callback as the code sends it', async (t) => {
  const [, vector = ''] = /```json\n(.*?)\n```/s.exec(PAGE) ?? [];
  const at = new Date('2026-01-01T12:00:01Z');
  const headers = callbackHeaders({ eventId: EVENT, deliveryId: DELIVERY, body, at, secrets: [SECRET] });
  t.equal(vector, JSON.stringify({ ...signingSecretJson(SECRET), headers, body: body.toString() }, null, 2));
});

t.test('the TypeScript recipes have the right types, and accept our callbacks alone', async (t) => {
  const dir = folder(t);
  const found = recipes('ts');
  t.equal(found.length, 4);
  writeFileSync(
    join(dir, 'judge.mts'),
    `import { readFileSync } from 'node:fs';
     const { verify } = await import(process.argv[2] ?? '');
     const accepts = ({ body, headers, secret }) => { try { verify(body, headers, secret); return true; } catch { return false; } };
     console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(accepts)));`,
  );
  for (const [i, { library, code }] of found.entries()) {
    writeFileSync(join(dir, `recipe-${i}.mts`), code);
    judged(t, library, process.execPath, ['judge.mts', `./recipe-${i}.mts`], dir);
  }
  const options =
    '--ignoreConfig --noEmit --strict --noUncheckedIndexedAccess --skipLibCheck --module nodenext --types node'.split(
      ' ',
    );
  const files = found.map((_, i) => join(dir, `recipe-${i}.mts`));
  const compiled = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...files]);
  t.equal(String(compiled.stdout), '');
});

longTest(t, 'the Python recipes accept our callbacks alone', async (t) => {
  const found = recipes('python');
  t.equal(found.length, 4);
  if (!atHand('python3', '--version')) return t.comment('there is no Python here');
  const dir = folder(t);
  for (const { library, code } of found) {
    if (!atHand('python3', '-c', `import ${library}`)) {
      t.comment(`${library} is not at hand for Python`);
      continue;
    }
    const judge = `
import json, sys
def accepts(one):
    try:
        verify(one["body"].encode(), one["headers"], one["secret"])
        return True
    except Exception:
        return False
print(json.dumps([accepts(one) for one in json.load(sys.stdin)]))`;
    writeFileSync(join(dir, 'recipe.py'), `${code}\n${judge}`);
    judged(t, library, 'python3', ['recipe.py'], dir);
  }
});

longTest(t, 'the Go recipe without packages accepts our callbacks alone', async (t) => {
  const found = recipes('go');
  t.equal(found.length, 4);
  if (!atHand('go', 'version')) return t.comment('there is no Go here');
  const dir = folder(t);
  const { library, code } = found.at(-1)!;
  writeFileSync(join(dir, 'recipe.go'), code);
  writeFileSync(
    join(dir, 'judge.go'),
    `package main
import ("encoding/json"; "fmt"; "net/http"; "os")
func main() {
  var cases []struct { Body string; Headers map[string]string; Secret string }
  if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
  accepted := []bool{}
  for _, one := range cases {
    header := http.Header{}
    for name, value := range one.Headers { header.Set(name, value) }
    accepted = append(accepted, verify([]byte(one.Body), header, one.Secret) == nil)
  }
  answer, _ := json.Marshal(accepted)
  fmt.Println(string(answer))
}`,
  );
  execFileSync('go', ['build', '-o', 'judge', 'recipe.go', 'judge.go'], { cwd: dir });
  judged(t, library, join(dir, 'judge'), [], dir);
});
