import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { LIMITS } from '../limits.js';
import type { Logger } from '../log/log.js';
import { traceIdOf } from '../model/traceparent.js';
import { Deadline } from '../process/deadline.js';
import type { PastSpan, SpanAttributes, Tracing, TracingSettings } from './tracing.js';

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Spans that go by OTLP over HTTP to where `OTEL_EXPORTER_OTLP_ENDPOINT` says, in batches, beside the work; what is too much is dropped. */
export function otlpTracing({ share }: TracingSettings, thread: string, log: Logger): Tracing {
  logTrouble(log);
  const ids = new GivenIds();
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'connection-service', 'thread.name': thread }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        maxQueueSize: LIMITS.trace_spans,
        scheduledDelayMillis: LIMITS.trace_delay_ms,
      }),
    ],
  });
  const tracer = provider.getTracer('connection-service');
  return {
    begin(name, kind, parent) {
      const span = tracer.startSpan(name, { kind: KINDS[kind] }, contextOf(parent));
      return { traceparent: traceparentOf(span), end: (attributes, failed) => end(span, attributes, failed) };
    },
    record({ name, kind, parent, id, start_ms, end_ms, attributes, failed }: PastSpan) {
      ids.next = id;
      const span = tracer.startSpan(name, { kind: KINDS[kind], startTime: start_ms }, contextOf(parent));
      end(span, attributes, failed, Math.max(start_ms, end_ms));
    },
    close: () => Deadline.within(LIMITS.trace_close_ms, provider.shutdown()).catch(() => {}),
  };
}

/** Random ids, but for a span whose id is given. */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  /** Of the next span. */
  next: string | undefined;

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.next ?? this.#random.generateSpanId();
    this.next = undefined;
    return id;
  }
}

function contextOf(parent: string | null): Context {
  if (parent === null) return ROOT_CONTEXT;
  const spanContext = {
    traceId: traceIdOf(parent),
    spanId: parent.slice(36, 52),
    traceFlags: Number.parseInt(parent.slice(53), 16),
    isRemote: true,
  };
  return trace.setSpanContext(ROOT_CONTEXT, spanContext);
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function end(span: Span, attributes: SpanAttributes, failed: boolean, end_ms?: number): void {
  span.setAttributes(attributes);
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(end_ms);
}

/** What the exporter complains of, once in a while: it would say so with every batch. */
function logTrouble(log: Logger): void {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (error: string) => {
    const now = performance.now();
    if (now - toldAt < LIMITS.trace_trouble_ms) return;
    toldAt = now;
    log.warn({ error: error.slice(0, LIMITS.error_message_characters) }, 'tracing: spans could not be exported');
  };
  const nothing = () => {};
  diag.setLogger({ error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing }, DiagLogLevel.WARN);
}
