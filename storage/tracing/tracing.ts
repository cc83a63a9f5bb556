/** What a span says of its work: ids, names and numbers, and nothing that a client or the provider wrote. */
export type SpanAttributes = Record<string, string | number | undefined>;

/** A piece of work that is over. */
export interface PastSpan {
  name: string;
  kind: 'internal' | 'server' | 'client';
  /** The traceparent that it belongs under. */
  parent: string;
  /** 16 hexadecimal digits; absent: a random one. */
  id?: string;
  /** Milliseconds since 1970. */
  start_ms: number;
  end_ms: number;
  attributes: SpanAttributes;
  failed: boolean;
}

/** A piece of work under way. */
export interface OpenSpan {
  /** What belongs under it. */
  readonly traceparent: string;
  end(attributes: SpanAttributes, failed: boolean): void;
}

/** The spans of one thread. Making one never fails, and waits for nothing. */
export interface Tracing {
  /** A span that begins now. `parent` null: it begins a trace. */
  begin(name: string, kind: PastSpan['kind'], parent: string | null): OpenSpan;
  record(span: PastSpan): void;
  /** Sends what is left, for a bounded time. Never rejects. */
  close(): Promise<void>;
}

/** What all threads are told of it; the exporter reads the rest from the standard variables itself. */
export interface TracingSettings {
  /** The share of the traces that begin here; one that a caller began is kept when its flags say so. */
  share: number;
}
