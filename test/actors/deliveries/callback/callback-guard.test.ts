import dgram from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { isPublic } from '../../../../actors/deliveries/callback/address-policy.js';
import {
  CALLBACK_REFUSALS,
  type CallbackPolicy,
  checkCallback,
  resolveCallback,
} from '../../../../actors/deliveries/callback/callback-guard.js';
import { type Address, hostResolver } from '../../../../actors/deliveries/callback/host-resolver.js';

const strict: CallbackPolicy = { allowedNetworks: [] };
const answering = (...addresses: string[]): CallbackPolicy => ({
  allowedNetworks: [],
  resolve: async () => addresses.map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 })),
});

const HOSTILE_LITERALS = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://017700000001/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://１２７.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.1.2.3/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://169.254.169.254/',
  'https://2852039166/',
  'https://168.63.129.16/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://192.168.1.1/',
  'https://198.18.0.1/',
  'https://198.19.255.255/',
  'https://198.51.100.7/',
  'https://203.0.113.9/',
  'https://224.0.0.1/',
  'https://239.255.255.250/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::8.8.8.8]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::10.0.0.1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
];

t.test('of public addresses only the ports of the setting may be used, of exempt ones all', async (t) => {
  const check = async (text: string, policy: CallbackPolicy) => {
    const checked = await checkCallback(text, policy);
    return checked.ok || checked.reason;
  };
  const usual = answering('93.184.216.34');
  for (const port of ['', ':443', ':8443']) t.equal(await check(`https://hooks.example${port}/`, usual), true);
  for (const port of [1, 22, 80, 444, 6379, 8080, 8444, 65535]) {
    t.equal(await check(`https://hooks.example:${port}/`, usual), 'port', `${port}`);
    t.equal(await check(`https://93.184.216.34:${port}/`, usual), 'port', `${port} of the address itself`);
  }
  const other = { ...answering('93.184.216.34'), ports: [9443] };
  t.equal(await check('https://hooks.example:9443/', other), true);
  t.equal(await check('https://hooks.example/', other), 'port');
  const exempt = { ...answering('93.184.216.34'), allowedNetworks: ['93.184.216.0/24'] };
  t.equal(await check('https://hooks.example:6379/', exempt), true, 'a network of the operator');
  const mixed = { ...answering('93.184.216.34', '1.1.1.1'), allowedNetworks: ['93.184.216.0/24'] };
  t.equal(await check('https://hooks.example:6379/', mixed), 'port', 'every address counts');
  const endpoint = { ...strict, allowedEndpoints: [{ address: '127.0.0.2', port: 8443 }] };
  t.equal(await check('https://127.0.0.2:8443/', endpoint), true);
  for (const text of ['https://127.0.0.2/', 'https://127.0.0.2:9090/', 'https://127.0.0.1:8443/'])
    t.equal(await check(text, endpoint), 'not_public', text);
});

t.test('refuses every address that is not on the public internet, in any notation', async (t) => {
  for (const url of HOSTILE_LITERALS) {
    t.same(await checkCallback(url, strict), { ok: false, reason: 'not_public' }, url);
  }
});

t.test('takes public addresses, written out or resolved', async (t) => {
  for (const url of ['https://8.8.8.8/hook', 'https://[2606:4700:4700::1111]:8443/hook', 'https://134744072/']) {
    t.same(await checkCallback(url, strict), { ok: true }, url);
  }
  t.same(await checkCallback('https://hooks.example/in', answering('8.8.8.8', '2606:4700::1')), { ok: true });
});

t.test('refuses a host as soon as one of its addresses is not public', async (t) => {
  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1']) {
    t.same(
      await checkCallback('https://hooks.example/', answering('8.8.8.8', address)),
      { ok: false, reason: 'unresolvable' },
      `${address}, as of a name that is not there`,
    );
  }
});

t.test('takes https URLs alone, without userinfo, query or fragment', async (t) => {
  const policy = answering('8.8.8.8');
  const rows: [string, string][] = [
    ['http://hooks.example/', 'not_https'],
    ['ftp://hooks.example/', 'not_https'],
    ['javascript:alert(1)', 'not_https'],
    ['hooks.example/in', 'invalid'],
    ['', 'invalid'],
    ['https://', 'invalid'],
    ['https:hooks.example', 'not_https'],
    ['https://user@hooks.example/', 'userinfo'],
    ['https://user:pass@hooks.example/', 'userinfo'],
    ['https://@hooks.example/', 'userinfo'],
    ['https://hooks.example/?a=1', 'query'],
    ['https://hooks.example/?', 'query'],
    ['https://hooks.example/#top', 'fragment'],
    ['https://hooks.example/#', 'fragment'],
    [' https://hooks.example/', 'invalid'],
    ['https://hooks.exa\tmple/', 'invalid'],
    ['https:\\\\hooks.example\\in', 'invalid'],
    ['https://127.0.0.1\\@hooks.example/', 'invalid'],
    ['https://hooks.example:99999/', 'invalid'],
    ['https://[fe80::1%25eth0]/', 'invalid'],
    [`https://hooks.example/${'a'.repeat(2048)}`, 'invalid'],
  ];
  for (const [url, reason] of rows) t.same(await checkCallback(url, policy), { ok: false, reason }, url.slice(0, 60));
});

t.test('exempts the networks of its policy, and no others', async (t) => {
  const policy: CallbackPolicy = { allowedNetworks: ['127.0.0.0/8', '::1/128'] };
  t.same(await checkCallback('https://127.0.0.1:8443/in', policy), { ok: true });
  t.same(await checkCallback('https://[::1]/', policy), { ok: true });
  t.same(await checkCallback('https://localhost/', policy), { ok: true });
  t.same(await checkCallback('https://10.0.0.1/', policy), { ok: false, reason: 'not_public' });
  t.same(await checkCallback('https://[::ffff:127.0.0.1]/', policy), { ok: false, reason: 'not_public' });
});

t.test('localhost is not public', async (t) => {
  t.same(await checkCallback('https://localhost/', strict), { ok: false, reason: 'unresolvable' });
});

t.test('isPublic takes text that is no address for not public', async (t) => {
  t.notOk(isPublic('hooks.example'));
  t.notOk(isPublic(''));
});

/** A name server on loopback that answers A and AAAA questions from a table; an absent name does not exist. */
async function nameServer(t: Test, table: Record<string, Address[]>): Promise<Resolver> {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] as number; length > 0; length = question[at] as number) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join('.').toLowerCase();
    const family = question.readUInt16BE(at + 1) === 28 ? 6 : 4;
    const records = (table[name] ?? []).filter((record) => record.family === family);
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(table[name] ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = records.map(({ address }) => {
      const bytes =
        family === 4
          ? Buffer.from(address.split('.').map(Number))
          : Buffer.from(
              address
                .split(':')
                .map((part) => part.padStart(4, '0'))
                .join(''),
              'hex',
            );
      const head = Buffer.alloc(12);
      head.writeUInt16BE(0xc00c, 0);
      head.writeUInt16BE(family === 4 ? 1 : 28, 2);
      head.writeUInt16BE(1, 4);
      head.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([head, bytes]);
    });
    socket.send(Buffer.concat([header, question.subarray(12, at + 5), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return resolver;
}

t.test('asks a name server for both families and returns all addresses of the answer', async (t) => {
  const servers = await nameServer(t, {
    'both.example': [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:0:0:0:0:0:1111', family: 6 },
    ],
    'mixed.example': [
      { address: '8.8.4.4', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ],
    'six.example': [
      { address: '8.8.4.4', family: 4 },
      { address: 'fd00:0:0:0:0:0:0:1', family: 6 },
    ],
  });
  const policy: CallbackPolicy = { allowedNetworks: [], resolve: hostResolver(servers) };
  const both = await resolveCallback('https://both.example/in', policy);
  t.match(both, { ok: true, target: { addresses: [{ address: '8.8.8.8' }, { address: '2606:4700::1111' }] } });
  t.same(await checkCallback('https://mixed.example/in', policy), { ok: false, reason: 'unresolvable' });
  t.same(await checkCallback('https://six.example/in', policy), { ok: false, reason: 'unresolvable' });
});

t.test('a host that resolves to nothing is unresolvable, which a caller cannot tell from one inside', async (t) => {
  t.equal(CALLBACK_REFUSALS.unresolvable, CALLBACK_REFUSALS.not_public);
  const policy: CallbackPolicy = {
    allowedNetworks: [],
    resolve: () => Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })),
  };
  t.same(await checkCallback('https://nowhere.example/', policy), { ok: false, reason: 'unresolvable' });
  t.same(await checkCallback('https://nowhere.example/', answering()), { ok: false, reason: 'unresolvable' });
});
