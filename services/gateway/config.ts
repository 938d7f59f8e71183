import { createSecretKey } from 'node:crypto'
import { z } from 'zod'
import {
  attackMarkFields,
  flag,
  internalSecret,
  kafkaFields,
  listOf,
  milliseconds,
  operationsPort,
  port,
  processFields,
  registryFields,
  sealingFields,
  servingFields,
  unlessWrong,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl, httpUrl, listenHost } from '#runtime/config-addresses.ts'
import { readablePath } from '#runtime/config-paths.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import { maxBodyBytes } from './capture-limit.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const minSpoolBytes = 16 * mebibyte

export const gatewayConfigSchema = z
  .object({
    ...processFields,
    ...kafkaFields,
    ...sealingFields,
    KAFKA_BROKERS: kafkaFields.KAFKA_BROKERS.optional().describe(
      'Brokers to start from, host:port or [IPv6 address]:port, comma-separated. Needed for GATEWAY_DELIVERY=kafka, unused without.',
    ),
    SCHEMA_REGISTRY_URL: registryFields.SCHEMA_REGISTRY_URL.optional().describe(
      'Schema registry, its Confluent-compatible address. Needed for GATEWAY_DELIVERY=kafka.',
    ),
    DRAIN_LEAD_MS: servingFields.DRAIN_LEAD_MS.describe(
      'How long a stopping gateway still accepts connections, for load balancers to see that it is not ready. Calls that are left 6 s before DRAIN_DEADLINE_MS are broken off and recorded.',
    ),
    GATEWAY_DELIVERY: z
      .enum(['api', 'kafka'])
      .default('api')
      .describe(
        '`api`: records are posted to API_BACKEND_URL. `kafka`: they are published to KAFKA_BROKERS, for projects whose tier has no limit; the API is still asked what their settings are, and what it said last holds for an hour while it is away.',
      ),
    PRICES_FILE: readablePath('file', 'prices (JSON or YAML, in the form of infra/prices.json)')
      .optional()
      .describe(
        'Price list of your own for GATEWAY_DELIVERY=kafka, as the API has it; read at the start. Goes before infra/prices.json.',
      ),
    OPS_PORT: operationsPort(9080),
    GATEWAY_HOST: listenHost('Address that applications reach the gateway at.'),
    GATEWAY_PORT: port(8080).describe('Port that applications reach the gateway at.'),
    GATEWAY_WORKERS: wholeNumber(1, { max: 128 }).describe(
      'Processes that serve, each on a core and with a spool of its own. Each takes an equal part of what GATEWAY_MAX_CONNECTIONS, UPSTREAM_CONNECTIONS, UPSTREAM_MAX_WAITING, CAPTURE_TOTAL_MAX_BYTES and SPOOL_MAX_BYTES allow.',
    ),
    UPSTREAM_URL: baseUrl(
      'must not hold a user name or a password, which no call would carry: UPSTREAM_API_KEY is for that',
    ).describe('Base URL of the model provider, without a slash at the end and without a deployment path.'),
    GATEWAY_AUTH: z
      .enum(['proxy_keys', 'project_keys'])
      .default('proxy_keys')
      .describe(
        '`proxy_keys`: applications present one of PROXY_API_KEY. `project_keys`: the API key of any project, to which the call then belongs; calls of models alone are forwarded (GATEWAY_FORWARD_OTHER).',
      ),
    GATEWAY_FORWARD_OTHER: flag().describe(
      'With GATEWAY_AUTH=project_keys, whether more than calls of models and `GET /v1/models` is forwarded. All projects then share what is stored at the provider: files, batches, stored answers. With proxy keys everything is.',
    ),
    PROXY_API_KEY: listOf(z.string())
      .optional()
      .describe('Keys that applications present, comma-separated. Needed unless they present project keys.'),
    UPSTREAM_API_KEY: z
      .string()
      .refine(isHeaderValue, 'expected what a header may hold')
      .optional()
      .describe("The provider's key. Unset: the application's Authorization header is forwarded as it came."),
    UPSTREAM_API_KEY_HEADER: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'expected the name of a header')
      .optional()
      .describe('Header that carries UPSTREAM_API_KEY, for instance `api-key`. Unset: a bearer token.'),
    UPSTREAM_AUTH: z
      .enum(['key', 'client_credentials'])
      .default('key')
      .describe(
        '`key`: UPSTREAM_API_KEY where it is set. `client_credentials`: an OAuth 2 token from UPSTREAM_TOKEN_URL.',
      ),
    UPSTREAM_TOKEN_URL: httpUrl()
      .optional()
      .describe('Where the identity provider gives tokens, for UPSTREAM_AUTH=client_credentials.'),
    UPSTREAM_CLIENT_ID: z.string().min(1).optional().describe('The client that tokens are asked for.'),
    UPSTREAM_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret.'),
    UPSTREAM_TOKEN_SCOPE: z
      .string()
      .min(1)
      .optional()
      .describe('Scope of the tokens, for instance `https://cognitiveservices.azure.com/.default`.'),
    UPSTREAM_CONNECT_TIMEOUT_MS: milliseconds(10_000, 600_000).describe(
      'How long connecting to the provider may take.',
    ),
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds(600_000, 3_600_000).describe(
      'How long the provider may think before its answer starts; then the application gets 504.',
    ),
    UPSTREAM_IDLE_TIMEOUT_MS: milliseconds(300_000, 3_600_000).describe(
      'How long an answer may pause; then it is broken off.',
    ),
    CALL_TIMEOUT_MS: milliseconds(3_600_000, 86_400_000).describe(
      'How long a call may take in all, its answer included; then it is broken off.',
    ),
    REQUEST_TIMEOUT_MS: milliseconds(300_000, 3_600_000).describe(
      'How long an application may take to send its request whole; then it gets 408.',
    ),
    ANSWER_STALL_TIMEOUT_MS: milliseconds(120_000, 3_600_000).describe(
      'How long an application may take nothing of an answer that waits for it; then it is broken off and counted.',
    ),
    REQUEST_MAX_BYTES: wholeNumber(256 * mebibyte, { min: mebibyte, max: 64 * 1024 * mebibyte }).describe(
      'Bytes of the body of a request at most; a larger one gets 413 and is counted.',
    ),
    GATEWAY_MAX_CONNECTIONS: wholeNumber(20_000, { max: 1_000_000 }).describe(
      'Connections of applications at most; those beyond are closed and counted.',
    ),
    UPSTREAM_CONNECTIONS: wholeNumber(2_048, { max: 65_535 }).describe(
      'Connections to the provider at most; calls beyond them wait. With project keys one project takes as many as it leaves to others: alone half of them.',
    ),
    UPSTREAM_MAX_WAITING: wholeNumber(2_048, { min: 0, max: 1_000_000 }).describe(
      'Calls that may wait for a connection to the provider; those beyond get 503 and are counted. Projects share them likewise.',
    ),
    CLIENT_GONE: z
      .enum(['abort', 'drain'])
      .default('abort')
      .describe(
        'What becomes of a call whose application has gone: the provider is told to stop, or heard out for the record.',
      ),
    GATEWAY_RECORD_OTHER: flag().describe(
      'Whether requests of shapes that are not model calls are recorded too.',
    ),
    CAPTURE_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(64 * kibibyte)
      .max(4 * mebibyte)
      .optional()
      .describe(
        'Bytes of one body in a record, decompressed, at most 4 MiB. Unset: 4194304, or as much as a record of two has room for within KAFKA_MAX_RECORD_BYTES. A longer one is forwarded whole and recorded cut. Of a stream eight times as many are kept meanwhile, for the message that it amounts to, and of a compressed answer, for the tokens at its end.',
      ),
    CAPTURE_TOTAL_MAX_BYTES: wholeNumber(128 * mebibyte, {
      min: mebibyte,
      max: 8 * 1024 * mebibyte,
    }).describe(
      'Bytes of all bodies being captured, with 640 for each chunk that they come in. Beyond it bodies are recorded cut; traffic is never held up. With project keys one project takes as much of it as it leaves to others. What of streams and compressed answers goes beyond CAPTURE_MAX_BYTES takes half of it at most. As many may wait for a disk that hangs, and as many of short requests are gathered before they are forwarded; more pass as they come.',
    ),
    API_BACKEND_URL: baseUrl().describe('The API service, which takes the records.'),
    SERVICE_API_KEY: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The project's API key, with which records are posted. Needed unless applications present project keys.",
      ),
    INTERNAL_API_SECRET: internalSecret()
      .optional()
      .describe("The API service's internal secret. Needed for GATEWAY_AUTH=project_keys only."),
    ...attackMarkFields,
    BACKEND_TIMEOUT_MS: milliseconds(30_000, 600_000).describe(
      'How long the API service may take to answer.',
    ),
    GATEWAY_HEARTBEAT_MS: milliseconds(15_000, 3_600_000).describe(
      'How often the API service is told how the gateway is: what waits in its spool, what it has lost.',
    ),
    SPOOL_DIR: z
      .string()
      .default('.sluice/spool')
      .describe('Where records stay until the API service has them.'),
    SPOOL_KEY: z
      .base64()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine((key) => key.length === 32, 'expected the base64 of exactly 32 bytes')
      // Created once, as that costs more than encrypting a record.
      .transform((key) => createSecretKey(key))
      .optional()
      .describe(
        'Encrypts records on disk: base64 of 32 bytes. Unset: they are not encrypted. Changed: what waits under the old one stays in the spool, unsent, until a gateway is started with that one again; let the spool empty first.',
      ),
    SPOOL_MAX_BYTES: wholeNumber(1024 * mebibyte, {
      min: minSpoolBytes,
      max: 1024 * 1024 * mebibyte,
    }).describe(
      'Bytes of the spool on disk, and of what another version left in set-aside/ as many again. When either is full the oldest records are dropped and counted. On a smaller disk the spool has what is free there, less a twentieth (64 MiB at most).',
    ),
    SPOOL_WAIT_MS: milliseconds(2_000, 60_000).describe(
      'How long the end of an answer may wait for the disk to take its record.',
    ),
  })
  .refine((config) => config.UPSTREAM_API_KEY_HEADER === undefined || config.UPSTREAM_API_KEY !== undefined, {
    path: ['UPSTREAM_API_KEY_HEADER'],
    message: 'is set, but UPSTREAM_API_KEY is not',
    when: unlessWrong('UPSTREAM_API_KEY_HEADER', 'UPSTREAM_API_KEY'),
  })
  .refine((config) => config.SPOOL_MAX_BYTES / config.GATEWAY_WORKERS >= minSpoolBytes, {
    path: ['SPOOL_MAX_BYTES'],
    message: `must be at least ${minSpoolBytes} for each of GATEWAY_WORKERS`,
    when: unlessWrong('SPOOL_MAX_BYTES', 'GATEWAY_WORKERS'),
  })
  .superRefine(
    (config, context) => {
      const [asked = 0, most] = [config.CAPTURE_MAX_BYTES, maxBodyBytes(config)]
      if (asked <= most) return
      const message = `is ${asked}, but KAFKA_MAX_RECORD_BYTES leaves room for two bodies of ${most}: lower it, or unset it`
      context.addIssue({ code: 'custom', path: ['CAPTURE_MAX_BYTES'], message })
    },
    { when: unlessWrong('CAPTURE_MAX_BYTES', 'KAFKA_MAX_RECORD_BYTES') },
  )
  .superRefine(
    (config, context) => {
      const need = (path: keyof typeof config, choice: string) => {
        const message = `is needed for ${choice}`
        if (config[path] === undefined) context.addIssue({ code: 'custom', path: [path], message })
      }
      const hasTokens = config.UPSTREAM_AUTH === 'client_credentials'
      if (hasTokens) {
        for (const path of ['UPSTREAM_TOKEN_URL', 'UPSTREAM_CLIENT_ID', 'UPSTREAM_CLIENT_SECRET'] as const)
          need(path, 'UPSTREAM_AUTH=client_credentials')
      }
      if (config.GATEWAY_DELIVERY === 'kafka')
        for (const path of ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL'] as const)
          need(path, 'GATEWAY_DELIVERY=kafka')
      const choice = `GATEWAY_AUTH=${config.GATEWAY_AUTH}`
      if (config.GATEWAY_AUTH === 'proxy_keys') {
        need('PROXY_API_KEY', choice)
        need('SERVICE_API_KEY', choice)
      } else {
        need('INTERNAL_API_SECRET', choice)
        // A project's key must never reach the provider.
        if (!hasTokens) need('UPSTREAM_API_KEY', choice)
      }
    },
    { when: unlessWrong('UPSTREAM_AUTH', 'GATEWAY_DELIVERY', 'GATEWAY_AUTH') },
  )

export type GatewayConfig = z.output<typeof gatewayConfigSchema>
