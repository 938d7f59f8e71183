import { z } from 'zod'
import {
  groupFields,
  kafkaFields,
  operationsPort,
  certificates,
  postgresFields,
  processFields,
  receiverFields,
  registryFields,
  sealingFields,
  wholeNumber,
} from '#runtime/config.ts'

export const notifierConfig = z.object({
  ...processFields,
  OPS_PORT: operationsPort(9003),
  ...kafkaFields,
  ...groupFields,
  ...registryFields,
  ...postgresFields,
  ...sealingFields,
  ...receiverFields,
  WEBHOOK_CA: certificates()
    .optional()
    .describe('Certificate authorities of receivers besides the public ones, PEM.'),
  WEBHOOK_ENDPOINT_CONCURRENCY: wholeNumber(16, { max: 1_000 }).describe(
    'Attempts of one process at one webhook at the same time; what is beyond waits in the database.',
  ),
  WEBHOOK_CONCURRENCY: wholeNumber(1_024, { max: 10_000 }).describe(
    'Attempts of one process at the same time; webhooks that are slow to answer share half of them.',
  ),
})

export type NotifierConfig = z.output<typeof notifierConfig>
