import { z } from 'zod'
import {
  groupFields,
  kafkaFields,
  milliseconds,
  operationsPort,
  postgresFields,
  processFields,
  registryFields,
  sealingFields,
  unlessWrong,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl } from '#runtime/config-addresses.ts'
import { egressFields } from '#runtime/egress/egress-fields.ts'
import { readablePath } from '#runtime/config-paths.ts'
import { tracingFields } from '#runtime/tracing/tracing-fields.ts'
import { endpointKeys, judgeEndpoints, unknownKeysOf } from './judge-endpoints.ts'
import { groupings } from './scoring/judge/group-rubrics.ts'
import { judgeKinds } from './scoring/judge/judge-kinds.ts'

const mebibyte = 1024 * 1024
/** A limit per minute and process. */
const perMinute = () => z.coerce.number().int().min(1).max(1_000_000_000).optional()
const usd = () => z.coerce.number().min(0).max(1_000_000).optional()

export const scorerConfig = z
  .object({
    ...processFields,
    ...tracingFields,
    OPS_PORT: operationsPort(9002),
    ...kafkaFields,
    ...groupFields,
    ...registryFields,
    ...postgresFields,
    ...sealingFields,
    ...egressFields,
    SCORER_MODEL: z
      .string()
      .min(1)
      .default('gpt-4o-mini')
      .describe('Model that judges, whatever model the call went to.'),
    OPENAI_API_KEY: z
      .string()
      .optional()
      .describe(
        "The judge's key. Neither it nor OPENAI_BASE_URL nor JUDGE_ENDPOINTS set: no judge, and what needs one is `unscored`.",
      ),
    OPENAI_BASE_URL: baseUrl().optional().describe('Any server that speaks chat completions; unset: OpenAI.'),
    JUDGE_KIND: z
      .enum(judgeKinds)
      .default('json')
      .describe(
        'How that model is asked: `json`, by our rubrics with structured output; `qwen3guard` (Qwen3Guard-Gen) or `llama_guard` (Llama Guard 3 and 4), guard models in their own format, which cover few scorers ([judges](judges.md)).',
      ),
    JUDGE_ENDPOINTS: judgeEndpoints(),
    JUDGE_ENDPOINT_KEYS: endpointKeys(),
    OPENAI_API_VERSION: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Set for a deployment at Azure (OPENAI_BASE_URL ends in /openai/deployments/<name>): sent as `api-version`, and the key as `api-key`.',
      ),
    JUDGE_MARK_SECRET: z
      .string()
      .min(16)
      .optional()
      .describe(
        "Marks the judge's own calls, so that they are not scored when they pass through the gateway. Unset: OPENAI_API_KEY; set it where applications know that key too.",
      ),
    JUDGE_TIMEOUT_MS: milliseconds(30_000, 300_000).describe('How long one request to the judge may take.'),
    JUDGE_CONCURRENCY: wholeNumber(8, { max: 1_000 }).describe(
      'Requests to the judge at once, of this process.',
    ),
    JUDGE_REQUESTS_PER_MINUTE: perMinute().describe(
      "Requests to the judge a minute, of this process: divide the provider's limit by the number of scorers. Unset: no limit.",
    ),
    JUDGE_TOKENS_PER_MINUTE: perMinute().describe(
      'Tokens of the judge a minute, of this process. Unset: no limit.',
    ),
    JUDGE_MAX_USD_PER_PERIOD: usd().describe(
      'What the judge may cost each project in a period, over all scorers; a project may have a lower cap of its own. Unset: no cap.',
    ),
    JUDGE_INPUT_USD_PER_MILLION: usd().describe(
      "Price of the judge's model, US dollars for a million tokens read. Unset, with the next: from infra/prices.json; a model that is not in it cannot be held to a cap.",
    ),
    JUDGE_OUTPUT_USD_PER_MILLION: usd().describe('The same for a million tokens written.'),
    JUDGE_GROUPING: z
      .enum(groupings)
      .default('evidence')
      .describe(
        '`evidence`: rubrics that see the same parts of a call are asked together; `separate`: one request each.',
      ),
    JUDGE_TEXT_LIMIT: wholeNumber(12_000, { min: 500, max: 1_000_000 }).describe(
      'Characters of request, answer, system prompt, tools, all context and all earlier answers, each, that the judge is shown; longer texts are cut in the middle, and of a request or answer that is cut it says nothing `safe` (`judge_saw_part`).',
    ),
    SCORER_CONCURRENCY: wholeNumber(16, { max: 1_000 }).describe(
      'Jobs scored at once by this process, and one more of a project that has none among them: live ones first, replays in what they leave. Of four times as many it is looked whose they are.',
    ),
    SCORER_LARGE_CONCURRENCY: wholeNumber(4, { max: 100 }).describe(
      'Large calls (DETECTOR_INLINE_MAX_CHARS) scored at once by this process, beside SCORER_CONCURRENCY, and one more of a project that has none among them.',
    ),
    SCORER_LARGE_WAITING_BYTES: wholeNumber(32 * mebibyte, {
      min: 16 * mebibyte,
      max: 4096 * mebibyte,
    }).describe(
      'Bytes of large calls that wait in this process, as Kafka has them; up to twice as much memory. Among them projects take turns.',
    ),
    DETECTOR_INLINE_MAX_CHARS: wholeNumber(262_144, { min: 0, max: 20_000_000 }).describe(
      'Characters of both bodies from which on a call is large: detectors read it in a thread of its own, and it waits for other large ones alone.',
    ),
    DETECTOR_TIMEOUT_MS: milliseconds(10_000, 300_000).describe(
      'Processor time that detectors may take for such a call; by the clock twelve times as long, and at least a minute. What is not finished then is tried once more later, and then `unscored` (`too_slow`).',
    ),
    DETECTOR_RETRY_AFTER_MS: wholeNumber(30_000, { min: 0, max: 3_600_000 }).describe(
      'How long a call that detectors were too slow on waits at least before it is tried once more.',
    ),
    DETECTOR_THREADS: wholeNumber(1, { max: 64 }).describe(
      'Such calls read at once, by threads that take up to 400 MB each.',
    ),
    CUSTOM_SCORERS_FILE: readablePath('file', 'custom scorers (YAML)')
      .default('evals/scorers.yaml')
      .describe('Custom scorers; read again within seconds of a change.'),
    TIERS_FILE: readablePath('file', 'the scorers of each tier (YAML)')
      .default('evals/tiers.yaml')
      .describe('Which built-in scorers run on which tier.'),
    RUBRICS_DIR: readablePath('folder', 'a rubric for each scorer (<scorer>.md)')
      .default('evals/rubrics')
      .describe('What the judge is told, one file a scorer.'),
  })
  .superRefine((config, context) => {
    for (const message of unknownKeysOf(config.JUDGE_ENDPOINTS, config.JUDGE_ENDPOINT_KEYS))
      context.addIssue({ code: 'custom', path: ['JUDGE_ENDPOINTS'], message })
  })
  .refine(
    (config) =>
      (config.JUDGE_INPUT_USD_PER_MILLION === undefined) ===
      (config.JUDGE_OUTPUT_USD_PER_MILLION === undefined),
    {
      path: ['JUDGE_OUTPUT_USD_PER_MILLION'],
      message: 'set both prices of the judge or neither',
      when: unlessWrong('JUDGE_INPUT_USD_PER_MILLION', 'JUDGE_OUTPUT_USD_PER_MILLION'),
    },
  )

export type ScorerConfig = z.output<typeof scorerConfig>
