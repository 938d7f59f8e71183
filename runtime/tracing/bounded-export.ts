import { TraceFlags } from '@opentelemetry/api'
import { ExportResultCode, type ExportResult } from '@opentelemetry/core'
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { TraceLosses } from './trace-losses.ts'

/** Spans that wait for their export; about 4 MB. Beyond, new ones are dropped. */
const maxQueueSize = 4_096
const batchLimits = {
  maxQueueSize,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 2_000,
  exportTimeoutMillis: 10_000,
}

/** Exports spans in batches. Counts what is dropped, of which the SDK's processor tells nobody. */
export function createBoundedExport(
  exporter: SpanExporter,
  { log, lost }: { log: Log; lost: TraceLosses },
): SpanProcessor {
  let waiting = 0
  let isFailing = false
  const note = ({ code, error }: ExportResult, spans: number) => {
    const isFailed = code !== ExportResultCode.SUCCESS
    if (isFailed) lost('export_failed', spans)
    if (isFailed && !isFailing) log.warn({ reason: messageOf(error) }, 'traces cannot be exported')
    if (!isFailed && isFailing) log.info('traces are exported again')
    isFailing = isFailed
  }
  const batches = new BatchSpanProcessor({
    ...batchLimits,
    exporter: {
      export(spans, done) {
        waiting -= spans.length
        exporter.export(spans, (result) => {
          note(result, spans.length)
          // A failure would end a shutdown before the other batches are sent.
          done({ code: ExportResultCode.SUCCESS })
        })
      },
      shutdown: () => exporter.shutdown(),
    },
  })
  return {
    onStart: () => undefined,
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
      if (waiting >= maxQueueSize) {
        lost('queue_full', 1)
        return
      }
      waiting++
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}
