import { z } from 'zod'
import {
  internalSecret,
  kafkaFields,
  operationsPort,
  port,
  postgresFields,
  processFields,
  registryFields,
  sealingFields,
  servingFields,
  wholeNumber,
} from '#runtime/config.ts'
import { listenHost } from '#runtime/config-addresses.ts'
import { readablePath } from '#runtime/config-paths.ts'

const mebibyte = 1024 * 1024

/** What taking calls needs, in a process of its own or inside the API. */
export const ingestFields = {
  ...processFields,
  ...servingFields,
  ...kafkaFields,
  ...registryFields,
  ...postgresFields,
  DATABASE_POOL_SIZE: postgresFields.DATABASE_POOL_SIZE.unwrap()
    .min(2, 'must be at least 2: one connection listens for keys that change')
    .default(10)
    .describe('Connections at most, 2 or more: one listens for keys that change.'),
  ...sealingFields,
  INTERNAL_API_SECRET: internalSecret()
    .optional()
    .describe("The operator's secret, sent as a bearer token. Unset: there is no operator."),
  BODY_MAX_BYTES: wholeNumber(10 * mebibyte, { min: 1024, max: 12 * mebibyte }).describe(
    'Largest record that /internal/log takes, in bytes. Topics take 16 MiB.',
  ),
  BODIES_MAX_BYTES: wholeNumber(128 * mebibyte, { min: 64 * mebibyte, max: 8 * 1024 * mebibyte }).describe(
    'Bytes that the bodies of all requests under way may take together, decoded, with 640 for each chunk that they come in and 6,144 for each record of a call, and as many again answers that their clients have not read yet; one project, as many as it leaves to others; whoever has no key, a sixteenth. What comes beyond is 503.',
  ),
  PRICES_FILE: readablePath('file', 'prices (JSON or YAML, in the form of infra/prices.json)')
    .optional()
    .describe(
      'Price list of your own, JSON or YAML of the form of infra/prices.json, read again when it changes. Goes before that list.',
    ),
}

/** A process that only takes calls. */
export const ingestConfigSchema = z.object({
  ...ingestFields,
  INGEST_HOST: listenHost('Address that ingest listens on.'),
  INGEST_PORT: port(8000).describe('Port that ingest listens on.'),
  OPS_PORT: operationsPort(9005),
})

export type IngestFields = z.output<z.ZodObject<typeof ingestFields>>
export type IngestConfig = z.output<typeof ingestConfigSchema>
