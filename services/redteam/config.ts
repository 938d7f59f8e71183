import { z } from 'zod'
import {
  attackFields,
  attackMarkFields,
  internalSecret,
  listOf,
  milliseconds,
  operationsPort,
  postgresFields,
  processFields,
  sealingFields,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl } from '#runtime/config-addresses.ts'
import { readablePath } from '#runtime/config-paths.ts'
import { hostOf } from '#runtime/outbound-address.ts'

/** `host=key`: the bearer token for a host. */
const targetKey = z
  .string()
  .regex(/^[^=\s]+=\S+$/, 'expected host=key')
  .transform((pair): [string, string] => [
    hostOf(pair.slice(0, pair.indexOf('='))),
    pair.slice(pair.indexOf('=') + 1),
  ])

export const redteamConfig = z.object({
  ...processFields,
  OPS_PORT: operationsPort(9006),
  ...postgresFields,
  ...sealingFields,
  ...attackFields,
  ...attackMarkFields,
  API_BACKEND_URL: baseUrl().describe('Where attempts are logged: the API, or ingest alone.'),
  INTERNAL_API_SECRET: internalSecret().describe('Of the API: only the operator logs attacks.'),
  DASHBOARD_URL: baseUrl()
    .default('http://localhost:3000')
    .describe('Where people reach the dashboard; links in events.'),
  PRICES_FILE: readablePath('file', 'prices (JSON or YAML, in the form of infra/prices.json)')
    .optional()
    .describe('Prices of your own, JSON or YAML, which go before infra/prices.json.'),
  REDTEAM_PROBES: listOf(z.string())
    .default([])
    .describe('Files and folders with probes besides ours, comma-separated.'),
  REDTEAM_TARGET_KEYS: listOf(targetKey)
    .default([])
    .transform((pairs) => new Map(pairs))
    .describe(
      '`host=key`, comma-separated: bearer tokens of targets. Keys of projects in the store are never used.',
    ),
  REDTEAM_TARGET_COMMAND: z
    .string()
    .optional()
    .describe(
      'JSON array: a program with its arguments that reads what is said on standard input and writes the answer. Of runs of the command line alone.',
    ),
  REDTEAM_RECORDED_FILE: z
    .string()
    .optional()
    .describe("Another tool's report with prompts and answers, instead of a target."),
  REDTEAM_TARGET_TIMEOUT_MS: milliseconds(120_000, 600_000).describe(
    'How long a target may take for one answer.',
  ),
  REDTEAM_SCORE_WAIT_MS: milliseconds(180_000, 3_600_000).describe(
    'How long scores are waited for after the last attempt, or after the last verdict that they gave; what has none by then is `unscored`.',
  ),
  REDTEAM_RUNS_AT_ONCE: wholeNumber(4, { max: 64 }).describe(
    'Runs that one process carries out side by side: one whose target is away holds up no other.',
  ),
  REDTEAM_LEASE_MS: milliseconds(15_000, 600_000).describe(
    'A run whose process says nothing for so long is taken by another.',
  ),
  REDTEAM_POLL_INTERVAL_MS: milliseconds(1_000, 60_000).describe(
    'How often new runs and new scores are looked for.',
  ),
  REDTEAM_RUN_ID: z
    .string()
    .regex(/^run_[0-9a-z]{26}$/)
    .optional()
    .describe('Carry out this run and end. Unset: every run that is ordered through the API.'),
  REDTEAM_ATTACKER_URL: baseUrl()
    .optional()
    .describe('Model of the adaptive attacker: base URL of a chat-completions server.'),
  REDTEAM_ATTACKER_MODEL: z.string().min(1).default('gpt-4o-mini').describe('Its name there.'),
  REDTEAM_ATTACKER_KEY: z.string().optional().describe('Its key.'),
})

export type RedteamConfig = z.output<typeof redteamConfig>
