import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { control } from '../../kit/control.js';
import type { CallbackRecord, Evidence, LedgerRecord, LostAnswer, SubmissionRecord } from './evidence.js';
import type { LoadLine } from './load/messages.js';

/** What the clients logged, as the checker takes it. */
export interface Clients {
  submissions: SubmissionRecord[];
  cancels: Evidence['cancels'];
  /** Statuses that a client was shown of an operation. */
  seen: { operation_id: string; at: number; status: string }[];
  lost: LostAnswer[];
}

/** Reads the clients' log. */
export async function readClients(file: string): Promise<Clients> {
  const byKey = new Map<string, SubmissionRecord>();
  const clients: Clients = { submissions: [], cancels: [], seen: [], lost: [] };
  for await (const line of linesOf<LoadLine>(file)) {
    switch (line.line) {
      case 'sent': {
        const { line: _, at, ...submission } = line;
        const record = { ...submission, sent_at: at, accepted_at: null, operation_id: null, answers: [] };
        byKey.set(line.key, record);
        clients.submissions.push(record);
        break;
      }
      case 'answer': {
        const { line: _, key, ...answer } = line;
        const record = byKey.get(key);
        if (!record) throw new Error(`${file}: the answer of ${key} came before it was sent`);
        record.answers.push(answer);
        if (answer.operation_id === null) break;
        record.accepted_at ??= answer.at;
        record.operation_id ??= answer.operation_id;
        break;
      }
      case 'cancel': {
        const { line: _, ...cancel } = line;
        clients.cancels.push(cancel);
        break;
      }
      case 'seen': {
        const { line: _, ...seen } = line;
        clients.seen.push(seen);
        break;
      }
      case 'lost': {
        const { line: _, ...lost } = line;
        clients.lost.push(lost);
        break;
      }
      default:
        line satisfies never;
    }
  }
  return clients;
}

/** Reads the receivers' log. */
export async function readCallbacks(file: string): Promise<CallbackRecord[]> {
  const callbacks: CallbackRecord[] = [];
  for await (const callback of linesOf<CallbackRecord>(file)) callbacks.push(callback);
  return callbacks;
}

/** The network's ledger. */
export async function readLedger(controlUrl: string): Promise<LedgerRecord[]> {
  const { entries } = (await control(controlUrl, 'GET', '/ledger')) as {
    entries: { account: string; kind: string; text: string; at: string }[];
  };
  return entries.map(({ account, kind, text, at }) => ({ account, kind, text, at: Date.parse(at) }));
}

/** Each line of a file that holds JSON lines; a half line at its end, of a writer that was killed, is left out. */
async function* linesOf<T>(file: string): AsyncIterable<T> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
    if (line.endsWith('}')) yield JSON.parse(line) as T;
  }
}
