import { z } from 'zod'
import {
  kafkaFields,
  listOf,
  operationsPort,
  postgresFields,
  processFields,
  registryFields,
  sealingFields,
} from '#runtime/config.ts'
import { hostOf } from '#runtime/outbound-address.ts'

export const notifierConfig = z.object({
  ...processFields,
  OPS_PORT: operationsPort(9003),
  ...kafkaFields,
  ...registryFields,
  ...postgresFields,
  ...sealingFields,
  WEBHOOK_ALLOW_INSECURE: listOf(z.string())
    .default([])
    .transform((hosts) => new Set(hosts.map(hostOf)))
    .describe(
      'Hosts (no ports) that webhooks may reach over plain HTTP, at private addresses and on any port, comma-separated.',
    ),
  WEBHOOK_PORTS: listOf(z.coerce.number<string>().int().min(1).max(65_535))
    .default([443, 8443])
    .transform((ports) => new Set(ports))
    .describe('Ports that webhooks may reach on other hosts, comma-separated.'),
  WEBHOOK_CA: z
    .string()
    .optional()
    .describe('Certificate authorities of receivers besides the public ones, PEM.'),
  WEBHOOK_ENDPOINT_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe('Attempts at one webhook at the same time; what is beyond waits in the database.'),
  WEBHOOK_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(1_024)
    .describe('Attempts at the same time; webhooks that are slow to answer share half of them.'),
})

export type NotifierConfig = z.output<typeof notifierConfig>
