import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import t, { type Test } from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { LIMITS as NODE } from '../../../actors/limits.js';
import { LIMITS as BROWSER } from '../../../browser-pool/limits.js';
import { LIMITS as EDGE } from '../../../server/http/limits.js';
import { LIMITS as START } from '../../../server/start/limits.js';
import { readConfig } from '../../../server/start/settings/config.js';
import { VARIABLES } from '../../../server/start/settings/variables.js';

/* The examples of how to run the service, as far as they can be judged without the engines that they are for. */

const ROOT = join(import.meta.dirname, '../../../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Every wait of a drain, one after the other. */
const DRAIN_s =
  [EDGE.drain_ms, NODE.drain_ms, NODE.leave_ms, NODE.thread_drain_ms, BROWSER.close_ms, START.sandbox_stop_ms].reduce(
    (sum, wait_ms) => sum + wait_ms,
  ) / 1000;

/** What an example sets beside settings of the service. */
const BESIDE = ['NODE_ENV', 'PATH', 'HOME'];

/** They are settings, and a start takes their values. */
function isUsable(t: Test, settings: Record<string, string>): void {
  const unknown = Object.keys(settings).filter((name) => !(name in VARIABLES) && !BESIDE.includes(name));
  t.same(unknown, [], 'every setting is known');
  t.doesNotThrow(() => readConfig(settings), 'and has a value that a start takes');
}

t.test('the image runs as another user than root, with a browser in its sandbox, and tells how it is', async (t) => {
  const text = read('Dockerfile');
  t.same(validate(text), []);
  const instructions = DockerfileParser.parse(text).getInstructions();
  const last = instructions.findLastIndex((one) => one.getKeyword() === 'FROM');
  const argumentsOf = (keyword: string) =>
    instructions
      .slice(last)
      .flatMap((one) => (one.getKeyword() === keyword ? [one.getRawArgumentsContent() ?? ''] : []));
  t.same(argumentsOf('USER'), ['10001']);
  t.match(argumentsOf('HEALTHCHECK'), [/\/readyz/]);
  t.same(argumentsOf('CMD'), ['["node", "dist/server/main.js"]']);
  const settings = DockerfileParser.parse(text)
    .getENVs()
    .flatMap((env) => env.getProperties().map((one) => [one.getName(), one.getValue() ?? '']));
  isUsable(t, Object.fromEntries(settings));
  t.match(Object.fromEntries(settings), { BROWSER_SANDBOX: 'on', HOST: '0.0.0.0' });
});

t.test('the file for Compose starts two nodes on one database, and leaves them time for a drain', async (t) => {
  const values = { ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`, PROVIDER: '' };
  const text = read('compose.yaml').replace(
    /\$\{(\w+)(?::-(\w*)|:\?)\}/g,
    (_, name: 'PROVIDER', usual = 'x') => values[name] || usual,
  );
  const file = parse(text, { merge: true, strict: true });
  t.same(Object.keys(file.services), ['database', 'node1', 'node2', 'prometheus']);
  for (const node of [file.services.node1, file.services.node2]) {
    isUsable(t, node.environment);
    t.ok(Number.parseInt(node.stop_grace_period, 10) > DRAIN_s);
    t.ok(existsSync(join(ROOT, node.security_opt[1].replace('seccomp:', ''))), 'the profile is there');
  }
  for (const { volumes = [], configs = [] } of Object.values<{ volumes?: string[]; configs?: { source: string }[] }>(
    file.services,
  )) {
    for (const volume of volumes) t.ok((volume.split(':')[0] ?? '') in file.volumes, volume);
    for (const { source } of configs) t.ok(source in file.configs, source);
  }
  const { scrape_configs } = parse(file.configs.prometheus.content);
  t.same(scrape_configs[0].static_configs, [{ targets: ['node1:9090', 'node2:9090'] }]);
  t.equal(VARIABLES.METRICS_PORT.default, '9090');
});

t.test('the profile of system calls allows what engines do and the browser needs, and refuses the rest', async (t) => {
  interface Rule {
    names: string[];
    action: string;
    args?: { index: number; op: string; value: number }[];
  }
  const { defaultAction, syscalls }: { defaultAction: string; syscalls: Rule[] } = JSON.parse(
    read('server/deploy/seccomp.json'),
  );
  t.equal(defaultAction, 'SCMP_ACT_ERRNO');
  for (const { names } of syscalls) t.same(names, [...new Set(names)].sort());
  const whatever = syscalls.filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args === undefined);
  const allowed = new Set(whatever.flatMap(({ names }) => names));
  for (const name of ['clone', 'unshare', 'chroot', 'seccomp', 'prctl', 'execve', 'futex', 'epoll_pwait'])
    t.ok(allowed.has(name), name);
  for (const name of [
    ...[
      'mount',
      'umount2',
      'pivot_root',
      'setns',
      'clone3',
      'ptrace',
      'process_vm_readv',
      'bpf',
      'perf_event_open',
      'keyctl',
    ],
    ...[
      'add_key',
      'io_uring_setup',
      'userfaultfd',
      'init_module',
      'kexec_load',
      'open_by_handle_at',
      'reboot',
      'socket',
    ],
  ])
    t.notOk(allowed.has(name), name);
  const sockets = syscalls.filter(({ names }) => names.includes('socket'));
  t.same(
    sockets.map(({ args }) => args?.map(({ index, op, value }) => [index, op, value])),
    [1, 2, 10, 16].map((family) => [[0, 'SCMP_CMP_EQ', family]]),
    'of sockets those of this machine and of the internet alone',
  );
});

const hasSystemd = existsSync('/usr/bin/systemd-analyze') ? false : 'systemd-analyze is not here';
t.test('systemd takes the unit, and it leaves time for a drain', { skip: hasSystemd }, async (t) => {
  const text = read('server/deploy/connection-service.service');
  const unit = join(t.testdir(), 'connection-service.service');
  await writeFile(unit, text.replace(/\/opt\/connection-service\/node_modules\S+/, process.execPath));
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit]);
  t.same([stdout, stderr], ['', '']);
  t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) > DRAIN_s);
  const [, settings = ''] = /^Environment=(.*)$/m.exec(text) ?? [];
  isUsable(t, Object.fromEntries(settings.split(' ').map((one) => one.split('='))));
});

t.test('Kubernetes takes the manifest, and it leaves time for a drain', async (t) => {
  const [deployment, service, budget, network] = parseAllDocuments(read('server/deploy/kubernetes.yaml')).map((one) =>
    one.toJS(),
  );
  t.doesNotThrow(() => new Deployment(deployment).validate());
  t.doesNotThrow(() => new Service(service).validate());
  t.doesNotThrow(() => new PodDisruptionBudget(budget).validate());
  t.doesNotThrow(() => new NetworkPolicy(network).validate());
  t.throws(() => new Service({ ...service, spec: { ports: [{ port: 'api' }] } }).validate(), 'a number is a number');
  const { spec: one } = deployment;
  const { spec: pod, metadata } = one.template;
  const { spec: served } = service;
  const { spec: budgeted } = budget;
  const { spec: fenced } = network;
  const selected = [served.selector, budgeted.selector.matchLabels, fenced.podSelector.matchLabels];
  t.same(selected, new Array(3).fill(metadata.labels));
  const [node] = pod.containers;
  t.ok(pod.terminationGracePeriodSeconds - Number(node.lifecycle.preStop.exec.command[1]) > DRAIN_s);
  t.match(node, { readinessProbe: { httpGet: { path: '/readyz' } }, livenessProbe: { httpGet: { path: '/livez' } } });
  isUsable(t, Object.fromEntries(node.env.map(({ name, value }: { name: string; value: string }) => [name, value])));
});
