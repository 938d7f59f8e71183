import { z } from 'zod'
import {
  internalSecret,
  kafkaFields,
  operationsPort,
  port,
  postgresFields,
  processFields,
  registryFields,
  searchFields,
  sealingFields,
  servingFields,
  unlessWrong,
  wholeNumber,
} from '#runtime/config.ts'
import { listenHost } from '#runtime/config-addresses.ts'
import { readablePath } from '#runtime/config-paths.ts'
import { tracingFields } from '#runtime/tracing/tracing-fields.ts'
import { callBytesWithin } from '#schemas/record-limits.ts'

const mebibyte = 1024 * 1024

/** Settings of ingest, as a process of its own or inside the API. */
export const ingestFields = {
  ...processFields,
  ...tracingFields,
  ...servingFields,
  ...kafkaFields,
  ...registryFields,
  ...postgresFields,
  DATABASE_POOL_SIZE: postgresFields.DATABASE_POOL_SIZE.unwrap()
    .min(2, 'must be at least 2: one connection listens for keys that change')
    .default(10)
    .describe('Connections at most, 2 or more: one listens for keys that change.'),
  ...sealingFields,
  ...searchFields,
  INTERNAL_API_SECRET: internalSecret()
    .optional()
    .describe("The operator's secret, sent as a bearer token. Unset: there is no operator."),
  BODY_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(12 * mebibyte)
    .optional()
    .describe(
      'Largest record that /internal/log takes, in bytes, at most 12 MiB. Unset: 10485760, or 131072 less than KAFKA_MAX_RECORD_BYTES where that is smaller.',
    ),
  BODIES_MAX_BYTES: wholeNumber(128 * mebibyte, { min: 64 * mebibyte, max: 8 * 1024 * mebibyte }).describe(
    'Bytes that the bodies of all requests under way may take together, decoded, with 640 for each chunk that they come in and 6,144 for each record of a call, and as many again answers that their clients have not read yet; one project, as many as it leaves to others; anyone who has no key, a sixteenth. What comes beyond is 503.',
  ),
  SPAN_WAIT_MS: wholeNumber(30_000, { min: 0, max: 30_000 }).describe(
    'How long a span of the GenAI conventions without words waits for its log records, and they for it, in milliseconds. 0: not at all.',
  ),
  PRICES_FILE: readablePath('file', 'prices (JSON or YAML, in the form of infra/prices.json)')
    .optional()
    .describe(
      'Price list of your own, JSON or YAML of the form of infra/prices.json, read again when it changes. Goes before that list.',
    ),
}

export type IngestFields = z.output<z.ZodObject<typeof ingestFields>>

type RecordLimits = Pick<IngestFields, 'BODY_MAX_BYTES' | 'KAFKA_MAX_RECORD_BYTES'>

/** The largest record that is taken: everything made of it fits into Kafka (`callsFit`). */
export function maxCallBytes({ BODY_MAX_BYTES, KAFKA_MAX_RECORD_BYTES = Infinity }: RecordLimits): number {
  return BODY_MAX_BYTES ?? Math.min(10 * mebibyte, callBytesWithin(KAFKA_MAX_RECORD_BYTES))
}

/** Checks BODY_MAX_BYTES against KAFKA_MAX_RECORD_BYTES, for superRefine. */
export function callsFit(
  { BODY_MAX_BYTES = 0, KAFKA_MAX_RECORD_BYTES = Infinity }: RecordLimits,
  context: z.RefinementCtx,
): void {
  const most = callBytesWithin(KAFKA_MAX_RECORD_BYTES)
  if (BODY_MAX_BYTES <= most) return
  const message = `is ${BODY_MAX_BYTES}, but KAFKA_MAX_RECORD_BYTES leaves room for ${most}: lower it, or unset it`
  context.addIssue({ code: 'custom', path: ['BODY_MAX_BYTES'], message })
}
export const whenLimitsAreRead = { when: unlessWrong('BODY_MAX_BYTES', 'KAFKA_MAX_RECORD_BYTES') }

/** Settings of the ingest process. */
export const ingestConfigSchema = z
  .object({
    ...ingestFields,
    INGEST_HOST: listenHost('Address that ingest listens on.'),
    INGEST_PORT: port(8000).describe('Port that ingest listens on.'),
    OPS_PORT: operationsPort(9005),
  })
  .superRefine(callsFit, whenLimitsAreRead)

export type IngestConfig = z.output<typeof ingestConfigSchema>
