import { announcedConnections, oldestAnnouncement_s, tell } from '../deliveries/announcements.js';
import type { RecordedEvent } from '../deliveries/events-record.js';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import type { Database } from '../postgres/database.js';
import { Portion } from '../postgres/divided.js';
import { causedByOne } from '../postgres/liveness.js';
import { Background } from '../process/background.js';

export interface AnnouncerOptions {
  db: Database;
  log: Logger;
  /** Gets events with deliveries once they are committed. */
  recorded(events: RecordedEvent[]): void;
  /** Gets how long the oldest announcement has waited, in seconds, whenever that was looked at; 0: there is none. */
  waits?(oldest_s: number): void;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * Turns announcements into events (EVT-20), batch after batch, for as long as there are any. Every node runs one, and one of them is at it at
 * a time.
 *
 *     together ─ a batch cannot be recorded ─▶ apart, one batch of each connection after the other ─ `announcement_apart_ms` later ─▶ together
 *
 * So what cannot be recorded holds up those of its own connection alone, however many they are. It is tried again, in smaller batches: an
 * announcement becomes as many deliveries as its connection has subscriptions.
 */
export function announcer({ db, log, recorded, waits }: AnnouncerOptions): Background {
  let apartUntil = Number.NEGATIVE_INFINITY;
  let after = BEFORE_ALL;
  /** How many announcements a batch of a connection takes at first. */
  let apartRows: number = LIMITS.announcement_rows;
  /** The same of connections whose batches failed; kept until a batch of all can be recorded. */
  const portions = new Map<string, Portion>();
  const batch = async (connectionId: string | null, rows: number): Promise<number> => {
    const told = await tell(db, rows, connectionId);
    const events = told?.events.filter(({ deliveries }) => deliveries > 0) ?? [];
    if (events.length > 0) recorded(events);
    return told?.announcements ?? 0;
  };
  const together = async (): Promise<number> => {
    const oldest_s = await oldestAnnouncement_s(db);
    waits?.(oldest_s ?? 0);
    const told = oldest_s === undefined ? 0 : await batch(null, LIMITS.announcement_rows);
    portions.clear();
    return told;
  };
  const ofConnection = async (connectionId: string): Promise<number> => {
    const portion = portions.get(connectionId) ?? new Portion(apartRows);
    try {
      const told = await batch(connectionId, portion.size);
      portion.succeeded();
      return told;
    } catch (error) {
      if (!causedByOne(error)) throw error;
      portions.set(connectionId, portion);
      const rows = portion.size;
      if (portion.failed(error)) {
        log.warn({ err: error, connection_id: connectionId, rows }, 'announcer: a batch failed, taking fewer');
      }
      return 0;
    }
  };
  /** A batch of each connection of a page, those that failed last; the next page begins behind it. Gives how much was told. */
  const apart = async (isStopping: () => boolean): Promise<number> => {
    const connections = await announcedConnections(db, after, LIMITS.announcement_connections);
    after = connections.length < LIMITS.announcement_connections ? BEFORE_ALL : (connections.at(-1) ?? BEFORE_ALL);
    const inTurn = connections.toSorted((a, b) => Number(portions.has(a)) - Number(portions.has(b)));
    let told = 0;
    for (const connection of inTurn) {
      if (isStopping()) return 0;
      told += await ofConnection(connection);
    }
    return told;
  };
  return new Background(async (isStopping) => {
    if (performance.now() >= apartUntil) {
      try {
        return (await together()) === LIMITS.announcement_rows ? 0 : LIMITS.announcement_poll_ms;
      } catch (error) {
        log.warn({ err: error }, 'announcer: announcements are not recorded yet, trying again');
        apartUntil = performance.now() + LIMITS.announcement_apart_ms;
        const portion = new Portion(LIMITS.announcement_rows);
        if (causedByOne(error)) portion.failed(error);
        apartRows = portion.size;
      }
    }
    const told = await apart(isStopping).catch(() => 0);
    return told > 0 ? 0 : LIMITS.announcement_poll_ms;
  });
}
