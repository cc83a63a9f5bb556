import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import typia from 'typia';
import type { NewProxy } from '../../../storage/connections/proxies.js';
import { LIMITS } from '../limits.js';

/** What the stand-in network announces on its first line of stdout. */
export interface SandboxReady {
  /** Of the control API on loopback. */
  control_url: string;
  /** Of the web site, as the proxies reach it. */
  origin: string;
  /** PEM file of the CA that signs the web site's certificates. */
  ca_file: string;
  /** Base64 SHA-256 of the web site's public key, for a browser that is to trust it. */
  spki: string;
  proxies: NewProxy[];
}

/** The child's ready line; further lines are ignored. Rejects when the child ends, fails or is not ready in time. */
export async function readReadyLine(child: ChildProcess): Promise<SandboxReady> {
  if (!child.stdout) throw new Error('no stdout');
  const answered = new AbortController();
  const timeout = AbortSignal.timeout(LIMITS.sandbox_start_ms);
  const signal = AbortSignal.any([answered.signal, timeout]);
  const line = once(createInterface({ input: child.stdout }), 'line', { signal });
  const exit = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`it ended (${by ?? code})`);
  });
  try {
    const [text] = await Promise.race([line, exit]);
    return parse(String(text));
  } catch (error) {
    throw timeout.aborted ? new Error('no ready line in time') : error;
  } finally {
    answered.abort();
  }
}

function parse(line: string): SandboxReady {
  try {
    return typia.json.assertParse<SandboxReady & { ready: true }>(line);
  } catch {
    throw new Error('its ready line has another form');
  }
}
