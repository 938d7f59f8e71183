import { z } from 'zod'
import { textField, idField, isStorableText } from '#schemas/fields.ts'
import { maskedPlaces, maxMaskedEntries } from '#schemas/masked-value.ts'
import { objectOf, type JsonObject } from '../json.ts'
import { contextField } from './declared-context.ts'
import { faultOfMetadata } from './fault-of-metadata.ts'

const recordSources = ['gateway', 'sdk', 'trace', 'mcp', 'otel', 'redteam', 'api'] as const

/** Optional text; null and the empty string mean unknown. */
function optionalText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine(isStorableText, 'must be Unicode text without NUL characters or lone surrogates')
    .nullish()
    .transform((text) => (text === undefined || text === '' ? null : text))
}

// Avro's longs are exact up to 2^52 (runtime/kafka/avro-type.ts), and so are sums of a few of these.
const count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 50)
  .nullish()
  .transform((value) => value ?? null)
// One absurd number must not spoil a project's sums.
const amount = z
  .number()
  .min(0)
  .max(1e12)
  .nullish()
  .transform((value) => value ?? null)

/** The same object: a copy would lose `__proto__` members. */
const jsonObject = z
  .custom<JsonObject>((value) => objectOf(value) !== undefined, 'must be a JSON object')
  .meta({ type: 'object' })
// `custom` has no null type, so it is named here.
const optionalObject = jsonObject.nullish().meta({ type: ['object', 'null'] })

/**
 * A record of `POST /internal/log`. Unknown members are ignored, so that newer clients work with older
 * servers. Null means absent, as many languages write it. Bodies are only inspected; their bytes are stored.
 */
export const recordSchema = z
  .object({
    id: idField('request')
      .nullish()
      .transform((id) => id ?? undefined)
      .describe(
        "Fixed by the client that captured the call; its time is the call's. Sending it again costs nothing and stores nothing.",
      ),
    project_id: idField('project')
      .nullish()
      .transform((id) => id ?? undefined)
      .describe("Required from the operator; from a key it must be the key's own."),
    agent_name: optionalText(256),
    agent_tag: optionalText(256),
    session_id: optionalText(256),
    user_id: optionalText(256),
    model: optionalText(256).describe('Absent: taken from the bodies, else `unknown`.'),
    provider: optionalText(64).describe('Absent: taken from the shape of the bodies and the model.'),
    request_body: jsonObject
      .optional()
      .describe(
        'What was sent to the model; `type: mcp_tool_call` for a tool call. Kept byte for byte. Required, unless `bodies_erased`.',
      ),
    response_body: optionalObject.describe('What it answered. Kept byte for byte.'),
    bodies_erased: z
      .boolean()
      .nullish()
      .transform((areErased) => areErased ?? false)
      .describe(
        'The bodies waited for too long on the way and are gone, because the project keeps no content. What comes in their place is not kept.',
      ),
    latency_ms: amount,
    time_to_first_token_ms: amount,
    prompt_tokens: count.describe(
      'Uncached: without cached_tokens. Absent: from the usage in response_body.',
    ),
    completion_tokens: count.describe('Without reasoning_tokens.'),
    cached_tokens: count,
    cache_write_tokens: count.describe(
      "Part of prompt_tokens: written to the provider's cache, which may cost more. For the cost alone.",
    ),
    cache_write_1h_tokens: count.describe('Part of cache_write_tokens: to be kept for an hour.'),
    reasoning_tokens: count,
    service_tier: optionalText(64).describe(
      'The tier that served the call, which may cost more or less. Absent: as the answer says it. For the cost alone.',
    ),
    inference_geo: optionalText(64).describe(
      'Where the call was served, as Anthropic says it, which may cost more. Absent: as the answer says it. For the cost alone.',
    ),
    billed_parts: z
      .record(
        z.string().min(1).max(64),
        z
          .number()
          .int()
          .min(0)
          .max(2 ** 50),
      )
      .refine((parts) => Object.keys(parts).length <= 100, 'must name 100 parts at most')
      .nullish()
      .transform((parts) => parts ?? null)
      .describe(
        'How much there was of what costs other than text: tokens (`audio_input`) and uses of hosted tools (`web_search`). Absent: as the answer says it. For the cost alone.',
      ),
    cost_usd: amount.describe(
      'Absent: as the answer says it, else from the price table; unknown stays null (docs/costs.md).',
    ),
    status_code: z
      .number()
      .int()
      .min(100)
      .max(599)
      .nullish()
      .transform((value) => value ?? null),
    error: optionalText(8_192),
    aborted_by: z
      .enum(['client', 'upstream'])
      .nullish()
      .transform((value) => value ?? null),
    metadata: optionalObject.superRefine((value, context) => {
      const metadata = objectOf(value)
      const fault = metadata === undefined ? undefined : faultOfMetadata(metadata)
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
    }),
    context: contextField,
    traceparent: optionalText(128).describe(
      "W3C trace context of what the record comes from, which Sluice's own traces go on (docs/operations.md). Not stored.",
    ),
    tracestate: optionalText(512).describe('Belongs to traceparent.'),
    masked: z
      .array(
        z.object({
          kind: z.string().regex(/^[a-z_]{1,64}$/, 'must be 1 to 64 small letters or underscores'),
          place: z.enum(maskedPlaces),
          count: z
            .number()
            .int()
            .min(1)
            .max(2 ** 31 - 1),
        }),
      )
      .max(maxMaskedEntries)
      .nullish()
      .transform((masked) => masked ?? null)
      .describe(
        'What was masked in the record before it was sent; an empty list: nothing had to be (docs/masking.md).',
      ),
    source: z
      .enum(recordSources)
      .nullish()
      .transform((source) => source ?? 'api')
      .describe('Absent: `api`.'),
  })
  .superRefine(({ request_body: body, bodies_erased: areErased }, context) => {
    if (body === undefined && !areErased)
      context.addIssue({ code: 'custom', path: ['request_body'], message: 'must be a JSON object' })
    const { type, tool_name: toolName } = objectOf(body) ?? {}
    if (type === 'mcp_tool_call' && !textField(100_000).safeParse(toolName).success) {
      context.addIssue({
        code: 'custom',
        path: ['request_body', 'tool_name'],
        message: 'an mcp_tool_call names its tool, in Unicode text without NUL characters',
      })
    }
  })

export type CallRecord = z.output<typeof recordSchema>
