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
import { hostOf } from '#runtime/outbound-address.ts'
import { egressFields } from '#runtime/egress/egress-fields.ts'
import { tracingFields } from '#runtime/tracing/tracing-fields.ts'
import type { AuditTarget } from './audit/send-audit.ts'

/** A URL, or a syslog server. */
function auditTarget() {
  return z.string().transform((text, context): AuditTarget => {
    const [, kind, host = '', port] = /^syslog\+(tls|tcp):\/\/(.+):(\d{1,5})$/.exec(text) ?? []
    if (kind !== undefined) return { host: hostOf(host), port: Number(port), tls: kind === 'tls' }
    if (/^https?:\/\//.test(text) && URL.canParse(text)) return { url: text }
    context.addIssue({ code: 'custom', message: 'expected https://…, or syslog+tls://host:port' })
    return z.NEVER
  })
}

export const notifierConfig = z.object({
  ...processFields,
  ...tracingFields,
  OPS_PORT: operationsPort(9003),
  ...kafkaFields,
  ...groupFields,
  ...registryFields,
  ...postgresFields,
  ...sealingFields,
  ...receiverFields,
  ...egressFields,
  WEBHOOK_CA: certificates()
    .optional()
    .describe('Certificate authorities of receivers besides the public ones, PEM.'),
  AUDIT_STREAM: auditTarget()
    .optional()
    .describe(
      'Where the audit log goes, as OCSF API Activity: `https://…`, or `syslog+tls://host:port` (`syslog+tcp://` without TLS). What is private or syslog needs DESTINATION_ALLOW. Unset: nowhere.',
    ),
  AUDIT_STREAM_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}: ?[\x21-\x7e][\x20-\x7e]*$/, 'expected Name: value, in ASCII')
    .optional()
    .describe('A header of its requests, such as `Authorization: Bearer …`.'),
  WEBHOOK_ENDPOINT_CONCURRENCY: wholeNumber(16, { max: 1_000 }).describe(
    'Attempts of one process at one webhook at the same time; what is beyond waits in the database.',
  ),
  WEBHOOK_CONCURRENCY: wholeNumber(1_024, { max: 10_000 }).describe(
    'Attempts of one process at the same time; webhooks that are slow to answer share half of them.',
  ),
})

export type NotifierConfig = z.output<typeof notifierConfig>
