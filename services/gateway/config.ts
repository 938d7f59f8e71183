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
  searchFields,
  sealingFields,
  servingFields,
  unlessWrong,
  wholeNumber,
} from '#runtime/config.ts'
import { baseUrl, listenHost } from '#runtime/config-addresses.ts'
import { readablePath } from '#runtime/config-paths.ts'
import { egressFields } from '#runtime/egress/egress-fields.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import { tracingFields } from '#runtime/tracing/tracing-fields.ts'
import { maxBodyBytes } from './capture-limit.ts'
import { recordedPaths } from './traffic/recorded-paths.ts'
import { timeLimitFields } from './traffic/time-limit-fields.ts'
import { upstreamTokenFields } from './upstreams/token-fields.ts'
import { websocketFields } from './websockets/websocket-fields.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const minSpoolBytes = 16 * mebibyte

export const gatewayConfigSchema = z
  .object({
    ...processFields,
    ...tracingFields,
    ...kafkaFields,
    ...sealingFields,
    ...searchFields,
    KAFKA_BROKERS: kafkaFields.KAFKA_BROKERS.optional().describe(
      'Bootstrap brokers, host:port or [IPv6 address]:port, comma-separated. Required for GATEWAY_DELIVERY=kafka, otherwise unused.',
    ),
    SCHEMA_REGISTRY_URL: registryFields.SCHEMA_REGISTRY_URL.optional().describe(
      'Confluent-compatible URL of the schema registry. Required for GATEWAY_DELIVERY=kafka.',
    ),
    DRAIN_LEAD_MS: servingFields.DRAIN_LEAD_MS.describe(
      'How long a stopping gateway still accepts connections, until load balancers see that it is not ready. Calls still running 6 s before DRAIN_DEADLINE_MS are aborted and recorded.',
    ),
    GATEWAY_DELIVERY: z
      .enum(['api', 'kafka'])
      .default('api')
      .describe(
        '`api`: records are posted to API_BACKEND_URL. `kafka`: they are published to KAFKA_BROKERS, for projects whose tier has no limit. Project settings still come from the API; cached ones are used for an hour while it is down.',
      ),
    PRICES_FILE: readablePath('file', 'prices (JSON or YAML, in the form of infra/prices.json)')
      .optional()
      .describe(
        'Your own price list for GATEWAY_DELIVERY=kafka and for monthly budgets of keys, the same as for the API; read at the start. Takes precedence over infra/prices.json.',
      ),
    OPS_PORT: operationsPort(9080),
    GATEWAY_HOST: listenHost('Address on which the gateway listens for applications.'),
    GATEWAY_PORT: port(8080).describe('Port on which the gateway listens for applications.'),
    GATEWAY_WORKERS: wholeNumber(1, { max: 128 }).describe(
      'Number of worker processes, each with its own core and spool. They share GATEWAY_MAX_CONNECTIONS, UPSTREAM_CONNECTIONS, UPSTREAM_MAX_WAITING, CAPTURE_TOTAL_MAX_BYTES and SPOOL_MAX_BYTES equally.',
    ),
    UPSTREAM_URL: baseUrl(
      'must not contain a user name or password, which calls would not carry: use UPSTREAM_API_KEY',
    )
      .optional()
      .describe(
        'Base URL of the model provider, without a trailing slash and without a deployment path. With UPSTREAMS_FILE it gets the calls that no upstream there takes, and may be unset.',
      ),
    UPSTREAMS_FILE: readablePath('file', 'upstreams (YAML or JSON, see docs/gateway.md)')
      .optional()
      .describe(
        'Several providers behind one gateway, by host name, port or path prefix, each with its credentials and limits. Read at the start, and again when it or one of its secrets changes.',
      ),
    ...websocketFields,
    GATEWAY_AUTH: z
      .enum(['proxy_keys', 'project_keys'])
      .default('proxy_keys')
      .describe(
        '`proxy_keys`: applications use one of PROXY_API_KEY. `project_keys`: they use the API key of a project, to which the call then belongs; only model calls are forwarded (GATEWAY_FORWARD_OTHER).',
      ),
    GATEWAY_FORWARD_OTHER: flag().describe(
      'With GATEWAY_AUTH=project_keys, whether requests other than model calls and `GET /v1/models` are forwarded. All projects then share files, batches and stored answers at the provider. With proxy keys everything is forwarded.',
    ),
    PROXY_API_KEY: listOf(z.string())
      .optional()
      .describe('Keys for applications, comma-separated. Required unless they use project keys.'),
    PROXY_KEY_IN_QUERY: flag().describe(
      "Whether applications may send that key, or a project's, as `?key=`, as some Google clients do. Only for an upstream with credentials of the gateway, which then gets the query without it. Proxies before the gateway may log it.",
    ),
    UPSTREAM_API_KEY: z
      .string()
      .refine(isHeaderValue, 'expected a valid header value')
      .optional()
      .describe("The provider's key. Unset: the application's Authorization header is forwarded unchanged."),
    UPSTREAM_API_KEY_HEADER: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'expected the name of a header')
      .optional()
      .describe('Header that carries UPSTREAM_API_KEY, for instance `api-key`. Unset: a bearer token.'),
    ...upstreamTokenFields,
    ...egressFields,
    UPSTREAM_CONNECT_TIMEOUT_MS: milliseconds(10_000, 600_000).describe(
      'Time limit for connecting to the provider.',
    ),
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds(600_000, 3_600_000).describe(
      "Time limit until the provider's answer starts; then the application gets 504.",
    ),
    UPSTREAM_IDLE_TIMEOUT_MS: milliseconds(300_000, 3_600_000).describe(
      'How long an answer may pause before it is aborted.',
    ),
    ...timeLimitFields,
    REQUEST_MAX_BYTES: wholeNumber(256 * mebibyte, { min: mebibyte, max: 64 * 1024 * mebibyte }).describe(
      'Maximum bytes of a request body; a larger one gets 413 and is counted.',
    ),
    GATEWAY_MAX_CONNECTIONS: wholeNumber(20_000, { max: 1_000_000 }).describe(
      'Maximum connections from applications; further ones are closed and counted.',
    ),
    UPSTREAM_CONNECTIONS: wholeNumber(2_048, { max: 65_535 }).describe(
      'Maximum connections to the provider; further calls wait. With project keys, a project may use as many as it leaves to others: half of them if it is alone.',
    ),
    UPSTREAM_MAX_WAITING: wholeNumber(2_048, { min: 0, max: 1_000_000 }).describe(
      'Maximum calls waiting for a connection to the provider; further ones get 503 and are counted. Projects share them likewise.',
    ),
    CLIENT_GONE: z
      .enum(['abort', 'drain'])
      .default('abort')
      .describe(
        'What happens to a call after its application disconnects: `abort` stops the provider, `drain` reads the rest for the record.',
      ),
    GATEWAY_RECORD_OTHER: recordedPaths().describe(
      'Requests other than model calls that are recorded too: `true` for all, or a list of paths, `/v1/files` or `/v1/batches/*` for all that begin so.',
    ),
    CAPTURE_MAX_BYTES: z.coerce
      .number()
      .int()
      .min(64 * kibibyte)
      .max(4 * mebibyte)
      .optional()
      .describe(
        'Maximum bytes of one body in a record, decompressed; at most 4 MiB. Unset: 4194304, or less so that two bodies fit KAFKA_MAX_RECORD_BYTES. A longer body is forwarded completely and recorded truncated. Streams and compressed answers may use eight times as much until they are assembled or decoded.',
      ),
    CAPTURE_TOTAL_MAX_BYTES: wholeNumber(128 * mebibyte, {
      min: mebibyte,
      max: 8 * 1024 * mebibyte,
    }).describe(
      'Memory budget for all bodies being captured, with 640 bytes added per chunk. Beyond it bodies are recorded truncated; traffic is never delayed. With project keys, a project may use as much as it leaves to others. The parts of streams and compressed answers beyond CAPTURE_MAX_BYTES may use half of it. Two further budgets have the same size: records waiting for the disk, and short requests buffered before they are forwarded.',
    ),
    API_BACKEND_URL: baseUrl().describe('Base URL of the API service, which receives the records.'),
    SERVICE_API_KEY: z
      .string()
      .min(1)
      .optional()
      .describe("The project's API key for posting records. Required unless applications use project keys."),
    INTERNAL_API_SECRET: internalSecret()
      .optional()
      .describe("The API service's internal secret. Required only for GATEWAY_AUTH=project_keys."),
    ...attackMarkFields,
    BACKEND_TIMEOUT_MS: milliseconds(30_000, 600_000).describe(
      'How long the API service may take to answer.',
    ),
    GATEWAY_HEARTBEAT_MS: milliseconds(15_000, 3_600_000).describe(
      "Interval of heartbeats to the API service, with the spool's size and the losses.",
    ),
    SPOOL_DIR: z
      .string()
      .default('.sluice/spool')
      .describe('Directory for records until the API service has accepted them.'),
    SPOOL_KEY: z
      .base64()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine((key) => key.length === 32, 'expected the base64 of exactly 32 bytes')
      // Created once, as that costs more than encrypting a record.
      .transform((key) => createSecretKey(key))
      .optional()
      .describe(
        'Encryption key for records on disk: base64 of 32 bytes. Unset: not encrypted, and calls of projects that mask are recorded without their bodies. Empty the spool before you change it: records under the old key stay unsent until a gateway has that key again.',
      ),
    SPOOL_MAX_BYTES: wholeNumber(1024 * mebibyte, {
      min: minSpoolBytes,
      max: 1024 * 1024 * mebibyte,
    }).describe(
      'Maximum bytes of the spool on disk; the same again for segments of another version in set-aside/. When either is full, the oldest records are dropped and counted. On a smaller disk the limit is the free space less a twentieth (64 MiB at most).',
    ),
    SPOOL_WAIT_MS: milliseconds(2_000, 60_000).describe(
      'How long the end of an answer may wait for its record to be written to disk.',
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
      if (config.UPSTREAMS_FILE === undefined) need('UPSTREAM_URL', 'a gateway without UPSTREAMS_FILE')
      if (config.GATEWAY_AUTH === 'proxy_keys') {
        need('PROXY_API_KEY', choice)
        need('SERVICE_API_KEY', choice)
      } else {
        need('INTERNAL_API_SECRET', choice)
        // A project's key must never reach the provider.
        if (!hasTokens && config.UPSTREAM_URL !== undefined) need('UPSTREAM_API_KEY', choice)
      }
    },
    { when: unlessWrong('UPSTREAM_AUTH', 'GATEWAY_DELIVERY', 'GATEWAY_AUTH') },
  )

export type GatewayConfig = z.output<typeof gatewayConfigSchema>
