import { z } from 'zod'
import {
  kafkaFields,
  milliseconds,
  operationsPort,
  processFields,
  registryFields,
  sealingFields,
} from '#runtime/config.ts'

export const scorerConfig = z.object({
  ...processFields,
  OPS_PORT: operationsPort(9002),
  ...kafkaFields,
  ...registryFields,
  ...sealingFields,
  SCORER_MODEL: z
    .string()
    .min(1)
    .default('gpt-4o-mini')
    .describe('Model that judges, whatever model the call went to.'),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .describe(
      "The judge's key. Neither it nor OPENAI_BASE_URL set: no judge, and what needs one is `unscored`.",
    ),
  OPENAI_BASE_URL: z.url().optional().describe('Any server that speaks chat completions; unset: OpenAI.'),
  JUDGE_MARK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe(
      "Marks the judge's own calls, so that they are not scored when they pass through the gateway. Unset: OPENAI_API_KEY; set it where applications know that key too.",
    ),
  JUDGE_TIMEOUT_MS: milliseconds(30_000, 300_000).describe('How long one request to the judge may take.'),
  JUDGE_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(8)
    .describe('Requests to the judge at once, of this process.'),
  JUDGE_TEXT_LIMIT: z.coerce
    .number()
    .int()
    .min(500)
    .max(1_000_000)
    .default(12_000)
    .describe(
      'Characters of request and of answer, each, that the judge is shown; longer texts are cut in the middle.',
    ),
  SCORER_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe('Jobs scored at once by this process.'),
  CUSTOM_SCORERS_FILE: z
    .string()
    .default('evals/scorers.yaml')
    .describe('Custom scorers; read again within seconds of a change.'),
  TIERS_FILE: z.string().default('evals/tiers.yaml').describe('Which built-in scorers run on which tier.'),
  RUBRICS_DIR: z.string().default('evals/rubrics').describe('What the judge is told, one file a scorer.'),
})

export type ScorerConfig = z.output<typeof scorerConfig>
