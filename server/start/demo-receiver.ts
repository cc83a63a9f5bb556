import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import typia from 'typia';
import { LIMITS } from './limits.js';
import { loadOrCreate, replace } from './settings/private-file.js';

/**
 * The HTTPS receiver of this machine that `npm run receiver` starts, so that callbacks can be seen without a public
 * host. It has a loopback address of its own, and only its port is exempt (EVT-2): that keeps callbacks from everything
 * else that listens on loopback.
 */
export interface DemoReceiver {
  host: string;
  port: number;
  /** PEM. */
  key: string;
  /** PEM, self-signed for `host`. */
  cert: string;
  /** The file with `cert`, for CALLBACK_CA_FILE. */
  caFile: string;
  /** For subscriptions that call it. */
  secret: string;
}

// Only Linux and Windows answer on all of 127/8 without configuration.
const HOST = process.platform === 'darwin' ? '127.0.0.1' : '127.0.0.2';
const PORT = 8443;

/** What the receiver and the service share, made once in `DATA_DIR`. */
export async function demoReceiver(dataDir: string): Promise<DemoReceiver> {
  const text = await loadOrCreate(join(dataDir, 'receiver.json'), async () => JSON.stringify(await identity()));
  const made = typia.json.assertParse<{ key: string; cert: string; secret: string }>(text);
  const caFile = join(dataDir, 'receiver-ca.pem');
  await replace(caFile, made.cert);
  return { host: HOST, port: PORT, caFile, ...made };
}

async function identity(): Promise<{ key: string; cert: string; secret: string }> {
  const { generate } = await import('selfsigned');
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + LIMITS.receiver_certificate_years);
  const pair = await generate([{ name: 'commonName', value: 'callback receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: HOST }] },
    ],
  });
  return { key: pair.private, cert: pair.cert, secret: randomBytes(24).toString('base64url') };
}
