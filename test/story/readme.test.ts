import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypes, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { control } from '../fixture/client.js';
import { type RunningService, serviceFixture, startService } from '../fixture/service.js';

const ROOT = join(import.meta.dirname, '../../..');
const ADDRESS = 'http://127.0.0.1:8080';
const run = promisify(execFile);

/** The first block of the root README in this language, at the address of a running service. */
async function pasted(language: string, { url }: RunningService): Promise<string> {
  const page = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [, block] = page.match(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms')) ?? [];
  return (block ?? '').replaceAll(ADDRESS, url);
}

t.test('the stories of the README run as they stand there', async (t) => {
  const fixture = await serviceFixture(t);
  const service = await startService(t, fixture);
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const options = { cwd: folder, env: { PATH: process.env.PATH, KEY: fixture.key } };

  await t.test('with curl', async (t) => {
    await mkdir(join(folder, '.data'));
    await writeFile(join(folder, '.data/demo-key'), fixture.key);
    const { stdout, stderr } = await run('bash', ['--norc', '-euc', await pasted('sh', service)], options);
    const answers = stdout.trim().split('\n');
    t.equal(stderr, '');
    t.match(
      answers.map((answer) => JSON.parse(answer)),
      ['social.login', 'social.message.send'].map((capability) => ({ capability, status: 'succeeded' })),
    );
    const { entries } = await control(service.sandboxUrl, 'GET', '/ledger');
    t.match(entries, [{ account: /^ada-\d+@example\.com$/, kind: 'message', text: 'Hello from the service' }]);
  });

  await t.test('in TypeScript, with generated types', async (t) => {
    const program = join(folder, 'story.ts');
    await writeFile(program, await pasted('ts', service));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const document = await (await fetch(`${service.url}/openapi.json`)).text();
    await writeFile(join(folder, 'api.ts'), astToString(await openapiTypes(document)));
    t.same(compiled(program), []);
    const { stdout } = await run('env', ['-i', `KEY=${fixture.key}`, process.execPath, join(folder, 'story.js')], {
      cwd: folder,
    });
    t.match(stdout, /^succeeded \{\s+provider_acknowledged: true/);
  });
});

/** Writes the JavaScript beside the program; gives what TypeScript has against it. */
function compiled(program: string): string[] {
  const types = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  const made = ts.createProgram([program], {
    ...{ strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2024, ...types },
    ...{ module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  });
  made.emit();
  return ts.getPreEmitDiagnostics(made).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
