import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { ingestConfigSchema } from '../config.ts'
import { createIngest } from '../service.ts'

/** Ingest as a process of its own, on the database and topics that `environment` names. */
export async function startIngest(
  environment: Record<string, string>,
): Promise<{ baseUrl: string; stop: () => Promise<void> }> {
  const { brokers, registryUrl } = testInfrastructure()
  const parsed = parseConfig(ingestConfigSchema, {
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    INGEST_HOST: '127.0.0.1',
    INGEST_PORT: '0',
    DRAIN_LEAD_MS: '0',
    ...environment,
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const log = createLog('ingest-test', 'silent')
  const ingest = createIngest(parsed.value, { log, metrics: createMetrics(), clock: systemClock })
  await ingest.start()
  return { baseUrl: `http://127.0.0.1:${ingest.port()}`, stop: () => ingest.stop() }
}
