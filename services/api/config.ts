import { z } from 'zod'
import {
  attackFields,
  flag,
  milliseconds,
  operationsPort,
  port,
  receiverFields,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl, listenHost } from '#runtime/config-addresses.ts'
import { tierSchema } from '#schemas/tiers.ts'
import { callsFit, ingestFields, whenLimitsAreRead } from '#services/ingest/config.ts'
import { tierPricesSchema } from './billing/tier-prices.ts'

export const apiConfigSchema = z
  .object({
    ...ingestFields,
    API_HOST: listenHost('Address that the API listens on.'),
    API_PORT: port(8000).describe('Port that the API listens on.'),
    OPS_PORT: operationsPort(9000),
    PUBLIC_BASE_URL: baseUrl()
      .default('http://localhost:8000')
      .describe('Where clients reach the API; shown in /openapi.json.'),
    DASHBOARD_URL: baseUrl()
      .default('http://localhost:3000')
      .describe('Where people reach the dashboard; links in events.'),
    LOGIN_IDLE_MINUTES: wholeNumber(720, { max: 43_200 }).describe(
      'Minutes without a request after which somebody who is signed in to the dashboard has to sign in again.',
    ),
    LOGIN_MAX_HOURS: wholeNumber(168, { max: 2_160 }).describe('Hours after which they have to in any case.'),
    AUDIT_RETENTION_DAYS: wholeNumber(730, { max: 3_650 }).describe(
      'Days after which entries of the audit log are deleted.',
    ),
    DEFAULT_TIER: tierSchema
      .optional()
      .describe('Tier of a new project. Unset: `free` where STRIPE_API_KEY is set, `enterprise` otherwise.'),
    STRIPE_API_KEY: z
      .string()
      .optional()
      .describe("The payment provider's key. Unset: there is no payment provider."),
    STATEMENT_TIMEOUT_MS: milliseconds(15_000, 300_000).describe(
      'What takes Postgres longer is cancelled and answered with 503.',
    ),
    SLOW_QUERY_MS: milliseconds(1_000, 300_000).describe(
      'Statements that take longer are logged with their route.',
    ),
    STRIPE_API_BASE: baseUrl()
      .optional()
      .describe("The payment provider's address, without a path. Unset: its own."),
    STRIPE_PRICES: tierPricesSchema.describe(
      '`pro:price_…,team:price_…`: which of the payment provider’s prices stands for which tier. Its customer portal has to let customers switch between them.',
    ),
    PAYMENT_WEBHOOK_SECRET: z
      .string()
      .optional()
      .describe(
        'Verifies what the payment provider posts to /webhook/payment. Unset: that answers 503, never unverified.',
      ),
    DOCS_REQUIRE_KEY: flag().describe('Whether /openapi.json and /docs need an API key.'),
    SLUICE_INIT: z
      .string()
      .optional()
      .describe(
        'What exists from the start, as YAML or JSON: projects, keys, webhooks and users (docs/declarative-start.md). Applied at each start of the API. Usually in a file, by SLUICE_INIT_FILE.',
      ),
    ...receiverFields,
    ...attackFields,
  })
  .superRefine(callsFit, whenLimitsAreRead)

export type ApiConfig = z.output<typeof apiConfigSchema>
