import { hostname } from 'node:os'
import {
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
  type Span as OtelSpan,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { readVersion } from '../read-version.ts'
import { createBoundedExport } from './bounded-export.ts'
import type { TraceLosses } from './trace-losses.ts'
import {
  isSameTrace,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type TraceContext,
  type Tracing,
} from './tracing.ts'
import type { TracingConfig } from './tracing-fields.ts'

interface OtlpOptions {
  /** Of the exports, path included. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  sampler: TracingConfig['OTEL_TRACES_SAMPLER']
  /** Share of the traces, for samplers by ratio. */
  ratio: number
}

/** Of one export with its retries. Shorter than that of the batch, so that one is under way at a time. */
const exportTimeoutMs = 8_000
/** Origins that a span links to. A batch of the sink has up to 20,000. */
const maxLinks = 128

const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
}
const propagator = new W3CTraceContextPropagator()

/** Traces by OpenTelemetry's SDK. Loaded only where traces are on. Sets nothing global. */
export function createOtlpTracing(
  { url, headers, serviceName, sampler, ratio }: OtlpOptions,
  { log, lost }: { log: Log; lost: TraceLosses },
): Tracing {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportTimeoutMs })
  const provider = new TracerProvider({
    sampler: samplerOf(sampler, ratio),
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': readVersion(),
      'service.instance.id': `${hostname()}:${process.pid}`,
    }),
    spanLimits: { linkCountLimit: maxLinks },
    spanProcessors: [createBoundedExport(exporter, { log, lost })],
  })
  const tracer = provider.getTracer('sluice')
  return {
    start(name, kind, origins, attributes) {
      const { parent, links } = placeOf(origins)
      return new ExportedSpan(
        tracer.startSpan(name, { kind: kinds[kind], links, ...(attributes && { attributes }) }, parent),
      )
    },
    async close(withinMs) {
      const late = new AbortController()
      const closed = provider.shutdown().then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error }, 'the last traces were not exported')
          return true
        },
      )
      const overdue = sleep(withinMs, false, { signal: late.signal }).catch(() => false)
      if (!(await Promise.race([closed, overdue])))
        log.warn({ within_ms: withinMs }, 'the last traces were not exported in time')
      late.abort()
    },
  }
}

function samplerOf(name: OtlpOptions['sampler'], ratio: number): Sampler {
  const [, parents, own] = /^(parentbased_)?(.*)$/.exec(name) ?? []
  const root =
    own === 'always_on'
      ? new AlwaysOnSampler()
      : own === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio)
  return parents === undefined ? root : new ParentBasedSampler({ root })
}

function placeOf(origins: readonly (TraceContext | undefined)[]): { parent: Context; links: Link[] } {
  const distinct = new Map<string, TraceContext>()
  for (const origin of origins) {
    if (origin !== undefined) distinct.set(origin.traceparent, origin)
    if (distinct.size === maxLinks) break
  }
  const contexts = Array.from(distinct.values(), (origin) =>
    propagator.extract(ROOT_CONTEXT, origin, textGetter),
  )
  const [only] = contexts
  if (only !== undefined && contexts.length === 1) return { parent: only, links: [] }
  const links = contexts.flatMap((context) => {
    const spanContext = trace.getSpanContext(context)
    return spanContext === undefined ? [] : [{ context: spanContext }]
  })
  return { parent: ROOT_CONTEXT, links }
}

const textGetter = {
  keys: (carrier: TraceContext) => Object.keys(carrier),
  get: (carrier: TraceContext, key: string) => carrier[key as keyof TraceContext],
}

class ExportedSpan implements Span {
  readonly #span: OtelSpan
  #context: TraceContext | undefined

  constructor(span: OtelSpan) {
    this.#span = span
  }

  get context(): TraceContext {
    if (this.#context !== undefined) return this.#context
    const carrier: Record<string, string> = {}
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.#span), carrier, defaultTextMapSetter)
    const { traceparent = '', tracestate } = carrier
    this.#context = { traceparent, ...(tracestate !== undefined && { tracestate }) }
    return this.#context
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes)
  }

  parentFor(origin: TraceContext | undefined): TraceContext {
    return origin === undefined || isSameTrace(origin, this.context) ? this.context : origin
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
      this.#span.setAttribute('error.type', typeOf(error))
    }
    this.#span.end()
  }
}

/** A text is a code itself. Messages of errors may quote what was said. */
function typeOf(error: unknown): string {
  if (typeof error === 'string') return error
  return codeOf(error) || (error instanceof Error ? error.name : typeof error)
}
