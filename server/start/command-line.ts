import { hostname, userInfo } from 'node:os';
import type { AuditSender } from '../../storage/model/audit.js';

/** Who has the command line (HTTP-30): the account that the process runs as, and its machine, such as `root@node-1`. Starts are theirs too. */
export function commandLine(): AuditSender {
  return { kind: 'command_line', id: null, name: `${account()}@${hostname()}`.slice(0, 255), address: null };
}

function account(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`; // of no name on this machine, as in an image
  }
}
