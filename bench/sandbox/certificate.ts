import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  /** PEM file of the authority that a client has to trust. */
  caFile: string;
  cert: string;
  key: string;
  /** Base64 SHA-256 of the site's public key, as browsers pin it. */
  spki: string;
}

const DAY_MS = 86_400_000;

/** The site's certificate and its authority's, made at the first start in that directory and kept. */
export async function certificateIn(directory: string): Promise<Certificate> {
  const caFile = join(directory, 'ca.pem');
  const certFile = join(directory, 'site.pem');
  const keyFile = join(directory, 'site-key.pem');
  // The key is written last: a start that was cut short makes all three anew.
  if (!existsSync(keyFile)) {
    const made = await makeCertificates();
    writeFileSync(caFile, made.ca);
    writeFileSync(certFile, made.cert);
    writeFileSync(`${keyFile}.new`, made.key, { mode: 0o600 });
    renameSync(`${keyFile}.new`, keyFile);
  }
  const cert = readFileSync(certFile, 'utf8');
  const publicKey = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const spki = createHash('sha256').update(publicKey).digest('base64');
  return { caFile, cert, key: readFileSync(keyFile, 'utf8'), spki };
}

async function makeCertificates(): Promise<{ ca: string; cert: string; key: string }> {
  const { generate } = await import('selfsigned');
  const common = {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - DAY_MS),
    notAfterDate: new Date(Date.now() + 3_650 * DAY_MS),
  } as const;
  const authority = await generate([{ name: 'commonName', value: 'Stand-in network authority' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const site = await generate([{ name: 'commonName', value: 'social.test' }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'social.test' },
          { type: 2, value: '*.social.test' },
          { type: 2, value: 'guild.test' },
          { type: 2, value: '*.guild.test' },
        ],
      },
    ],
  });
  return { ca: authority.cert, cert: site.cert, key: site.private };
}
