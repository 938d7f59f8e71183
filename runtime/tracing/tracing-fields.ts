import { z } from 'zod'
import { baseUrl } from '../config-addresses.ts'

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** For processes that export their own traces. Names and meanings are OpenTelemetry's. */
export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl(
    'must not hold a user name or a password: use OTEL_EXPORTER_OTLP_HEADERS',
  )
    .optional()
    .describe(
      "Where Sluice's own traces go: OTLP over HTTP in protobuf, to `/v1/traces` behind this address. Unset: there are none.",
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform(parseHeaders)
    .optional()
    .describe('Headers of those requests: `name=value`, comma-separated, values percent-encoded.'),
  OTEL_SERVICE_NAME: z
    .string()
    .max(256)
    .optional()
    .describe('`service.name` of the spans. Unset: `sluice-` and the name of the service.'),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers)
    .default('parentbased_always_on')
    .describe(
      `Which traces are exported: ${samplers.map((name) => `\`${name}\``).join(', ')}. With \`parentbased\` the caller's \`traceparent\` decides where there is one.`,
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of the traces that a `traceidratio` sampler exports.'),
}

export type TracingConfig = z.output<z.ZodObject<typeof tracingFields>>

/** A token of RFC 9110. */
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/

function parseHeaders(text: string, context: z.RefinementCtx): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(at, 0)).trim()
    const value = decoded(pair.slice(at + 1).trim())
    // Never the value: it is a credential.
    if (!headerName.test(name) || value === undefined)
      context.addIssue({ code: 'custom', message: 'expected name=value, comma-separated, percent-encoded' })
    else headers[name] = value
  }
  return headers
}

/** Undefined for what no header can carry. */
function decoded(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text)
    return /^[\x20-\x7e\x80-\xff]*$/.test(value) ? value : undefined
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}
