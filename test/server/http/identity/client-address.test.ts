import t from 'tap';
import { clientAddress, isInNetworks } from '../../../../server/http/identity/client-address.js';

t.test('the address of a client is the last one that no trusted proxy has', async (t) => {
  const address = clientAddress(['10.0.0.0/8', 'fd00::/8']);
  const cases: [peer: string, forwardedFor: string, client: string][] = [
    ['192.0.2.1', '', '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.7, 10.1.1.1', '198.51.100.7'],
    ['10.0.0.1', '10.2.2.2', '10.2.2.2'],
    ['10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['10.0.0.1', '[2001:db8::7]:4711', '2001:0db8:0000:0000:0000:0000:0000:0007'],
    ['10.0.0.1', '[2001:db8::7], 10.1.1.1', '2001:0db8:0000:0000:0000:0000:0000:0007'],
    ['10.0.0.1', 'unknown', ''],
    ['10.0.0.1', '198.51.100.7, junk', ''],
    ['10.0.0.1', '198.51.100.7,', ''],
    ['10.0.0.1', '', '10.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:0a00:0001', '198.51.100.7', '198.51.100.7'],
    ['fd00::1', '2001:db8::7', '2001:0db8:0000:0000:0000:0000:0000:0007'],
    ['', '198.51.100.7', ''],
  ];
  for (const [peer, forwardedFor, client] of cases) {
    t.equal(address({ peer, forwardedFor }), client, `${peer} forwards ${forwardedFor}`);
  }
  t.equal(clientAddress([])({ peer: '10.0.0.1', forwardedFor: '198.51.100.7' }), '10.0.0.1', 'nobody is trusted');
});

t.test('an address is in networks of its own kind', async (t) => {
  t.ok(isInNetworks('10.1.2.3', ['192.0.2.0/24', '10.0.0.0/8']));
  t.ok(isInNetworks('::ffff:10.1.2.3', ['10.0.0.0/8']));
  t.notOk(isInNetworks('11.1.2.3', ['10.0.0.0/8', '::/0']));
  t.ok(isInNetworks('2001:0db8:0000:0000:0000:0000:0000:0007', ['2001:db8::/32']));
  t.notOk(isInNetworks('', ['0.0.0.0/0']));
});
