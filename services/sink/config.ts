import { z } from 'zod'
import {
  groupFields,
  kafkaFields,
  milliseconds,
  operationsPort,
  postgresFields,
  processFields,
  registryFields,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl } from '#runtime/config-addresses.ts'
import { tracingFields } from '#runtime/tracing/tracing-fields.ts'
import { contentDays } from '#schemas/content-retention.ts'

export const sinkConfig = z.object({
  ...processFields,
  ...tracingFields,
  OPS_PORT: operationsPort(9001),
  ...kafkaFields,
  ...groupFields,
  ...registryFields,
  ...postgresFields,
  DASHBOARD_URL: baseUrl()
    .default('http://localhost:3000')
    .describe('Where people open the dashboard; `report_url` in events starts with it.'),
  SINK_BATCH_MAX_RECORDS: wholeNumber(2_000, { max: 20_000 }).describe(
    'Records of one partition that are stored in one transaction at most.',
  ),
  SINK_PARTITION_DAYS_AHEAD: z.coerce
    .number()
    .int()
    .min(3, 'must be at least 3: SluicePartitionsRunOut wakes somebody below that')
    .max(60)
    .default(7)
    .describe('Days ahead for which tables have partitions already.'),
  SINK_LATE_MAX_DAYS: wholeNumber(35, { min: 8, max: 80 }).describe(
    'A call whose day has no partition gets one when it is at most this many days old, else a dead letter.',
  ),
  SINK_MAINTENANCE_INTERVAL_MS: milliseconds(15_000, 600_000).describe(
    'How often partitions are made ahead, old outbox rows deleted and the outbox measured.',
  ),
  METADATA_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(contentDays)
    .max(36_500)
    .optional()
    .describe(
      'Days that calls, and scores with their reviews, are kept. Unset: for good. Bodies and details go after 90 days or as the project says.',
    ),
  RETENTION_INTERVAL_MS: milliseconds(600_000, 3_600_000).describe(
    'How often what is kept no longer is erased.',
  ),
  ERASURE_INTERVAL_MS: milliseconds(5_000, 3_600_000).describe(
    'How often it is looked for what people asked to erase.',
  ),
  SWEEP_AGE_MS: milliseconds(3_600_000, 86_400_000).describe(
    'A call without scores that was taken so long ago is queued for scoring again.',
  ),
  SWEEP_INTERVAL_MS: milliseconds(300_000, 3_600_000).describe(
    'How often calls without scores are looked for: at most 1,000 a round, each at most once an hour and three times in all.',
  ),
  SCORE_RUNS_INTERVAL_MS: milliseconds(1_000, 600_000).describe(
    'How often runs that score history again are looked at while there is nothing to do at once.',
  ),
  REPLAY_MAX_WAITING_JOBS: wholeNumber(5_000, { max: 1_000_000 }).describe(
    'While so many jobs of replays wait for the scorers no more are queued: they stand in Kafka with their bodies.',
  ),
  QUOTA_INTERVAL_MS: milliseconds(60_000, 3_600_000).describe(
    'How often costs are compared with thresholds, and quota claims whose call never came are given back (after an hour).',
  ),
  OUTBOX_POLL_INTERVAL_MS: milliseconds(500, 60_000).describe(
    'How often the outbox is looked at for events that other processes wrote. Those of this sink are published at once.',
  ),
})

export type SinkConfig = z.output<typeof sinkConfig>
