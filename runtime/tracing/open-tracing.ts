import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { createTraceLosses } from './trace-losses.ts'
import type { Tracing } from './tracing.ts'
import type { TracingConfig } from './tracing-fields.ts'

/**
 * Opens Sluice's own traces where OTEL_EXPORTER_OTLP_ENDPOINT is set. Else undefined, and neither
 * OpenTelemetry's SDK nor its exporter is loaded (0.2 s and 40 MB).
 */
export async function openTracing(
  config: Partial<TracingConfig>,
  { name, log, metrics }: { name: string; log: Log; metrics: Metrics },
): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  const { createOtlpTracing } = await import('./otlp-tracing.ts')
  return createOtlpTracing(
    {
      url: `${endpoint}/v1/traces`,
      headers: config.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      serviceName: config.OTEL_SERVICE_NAME ?? `sluice-${name}`,
      sampler: config.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
      ratio: config.OTEL_TRACES_SAMPLER_ARG ?? 1,
    },
    { log, lost: createTraceLosses(metrics) },
  )
}
