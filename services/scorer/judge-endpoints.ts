import { z } from 'zod'
import { baseUrl } from '#runtime/config-addresses.ts'
import { messageOf } from '#runtime/errors.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { scorersOfGuard } from './scoring/judge/guard-categories.ts'
import { judgeKinds } from './scoring/judge/judge-kinds.ts'

const usdPerMillion = z.number().min(0).max(1_000_000).optional()

const endpoint = z
  .strictObject({
    base_url: baseUrl(),
    model: z.string().min(1).max(200),
    kind: z.enum(judgeKinds).default('json'),
    key: z.string().min(1).optional(),
    input_usd_per_million: usdPerMillion,
    output_usd_per_million: usdPerMillion,
  })
  .refine(
    ({ input_usd_per_million: input, output_usd_per_million: output }) =>
      (input === undefined) === (output === undefined),
    'set both prices or neither',
  )

/** Where the judge of one scorer is. */
export type JudgeEndpoint = z.output<typeof endpoint>
export type JudgeEndpoints = ReadonlyMap<BuiltInScorer, JudgeEndpoint>

/** `JUDGE_ENDPOINTS`: every problem is one issue, since only an issue's message is printed. */
export function judgeEndpoints() {
  return z
    .string()
    .default('{}')
    .transform((text, context): JudgeEndpoints => {
      const problem = (message: string) => {
        context.addIssue({ code: 'custom', message })
      }
      const endpoints = new Map<BuiltInScorer, JudgeEndpoint>()
      for (const [name, given] of Object.entries(objectIn(text, problem))) {
        const scorer = builtInScorers.find((known) => known === name)
        const parsed = endpoint.safeParse(given)
        if (scorer === undefined)
          problem(`${name} is no built-in scorer: expected one of ${builtInScorers.join(', ')}`)
        if (!parsed.success)
          parsed.error.issues.forEach(({ path, message }) =>
            problem(`${[name, ...path].join('.')}: ${message}`),
          )
        if (scorer === undefined || !parsed.success) continue
        const { kind } = parsed.data
        if (kind !== 'json' && !scorersOfGuard(kind).includes(scorer))
          problem(`${scorer}.kind: ${kind} covers ${scorersOfGuard(kind).join(', ')} only`)
        endpoints.set(scorer, parsed.data)
      }
      return endpoints
    })
    .describe(
      'A judge of its own for single scorers, as JSON: `{"content_safety": {"base_url": "http://guard:8000/v1", "model": "Qwen/Qwen3Guard-Gen-4B", "kind": "qwen3guard"}}`. Optional: `key`, a name of JUDGE_ENDPOINT_KEYS; `input_usd_per_million` and `output_usd_per_million`. Other scorers keep the judge at OPENAI_BASE_URL. The JUDGE_* limits hold for each endpoint.',
    )
}

/** `JUDGE_ENDPOINT_KEYS`: apart from the endpoints, which are no secret. */
export function endpointKeys() {
  return z
    .string()
    .default('')
    .transform((text, context): ReadonlyMap<string, string> => {
      const pairs = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
      const keys = new Map<string, string>()
      for (const [index, pair] of pairs.entries()) {
        const [, name = '', key = ''] = /^([a-z0-9_-]{1,40})=([!-~]+)$/i.exec(pair) ?? []
        if (key === '' || keys.has(name))
          context.addIssue({
            code: 'custom',
            message: `entry ${index + 1}: expected name=key, each name once`,
          })
        keys.set(name, key)
      }
      return keys
    })
    .describe('API keys of JUDGE_ENDPOINTS, `name=key`, comma-separated. A key has no comma.')
}

/** Messages about endpoints whose key is not given. */
export function unknownKeysOf(endpoints: JudgeEndpoints, keys: ReadonlyMap<string, string>): string[] {
  return [...endpoints].flatMap(([scorer, { key }]) =>
    key === undefined || keys.has(key) ? [] : [`${scorer}.key: ${key} is no name of JUDGE_ENDPOINT_KEYS`],
  )
}

function objectIn(text: string, problem: (message: string) => void): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    problem('expected a JSON object: scorer → endpoint')
  } catch (error) {
    problem(`expected JSON: ${messageOf(error)}`)
  }
  return {}
}
