import kafkajs, {
  type ISocketFactory,
  type Kafka,
  type KafkaConfig as ClientConfig,
  type LogEntry,
  type SASLOptions,
} from 'kafkajs'
import { systemClock } from '../clock.ts'
import type { KafkaConfig } from '../config.ts'
import type { Log } from '../log.ts'
import { connectBroker, withoutColons } from './broker-sockets.ts'
import { createClientCertificate } from './client-certificate.ts'
import { createTokenProvider } from './oauth-token.ts'
import { quietQueues } from './quiet-queues.ts'
import { registerZstd } from './zstd-codec.ts'

/** How to reach the cluster: the parsed `kafkaFields`. Only the brokers are required. */
export type ClusterConfig = Pick<KafkaConfig, 'KAFKA_BROKERS'> & Partial<KafkaConfig>

/**
 * Retries within one kafkajs call: about 5 s in all. Our producer and consumers retry for longer, as they
 * know their deadlines. All fields are set, because kafkajs has other defaults when NODE_ENV is `test`.
 */
const kafkaRetry = {
  initialRetryTime: 100,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 2_000,
  retries: 6,
}

/** A kafkajs client that speaks zstd and writes to our log. Does not connect yet. */
export function createKafka(config: ClusterConfig, options: { clientId: string; log: Log }): Kafka {
  registerZstd()
  quietQueues()
  return new kafkajs.Kafka({
    clientId: options.clientId,
    brokers: config.KAFKA_BROKERS.map(withoutColons),
    socketFactory: socketFactoryOf(config, options.log),
    connectionTimeout: 3_000,
    authenticationTimeout: 10_000,
    requestTimeout: 15_000,
    retry: kafkaRetry,
    // At debug kafkajs logs every request, which is useful at trace only.
    logLevel: options.log.isLevelEnabled('trace') ? kafkajs.logLevel.DEBUG : kafkajs.logLevel.INFO,
    logCreator: () => entryWriter(options.log),
    ...securityOf(config, options.log),
  })
}

/** Each connection has the certificates that the files hold by then. */
function socketFactoryOf(config: ClusterConfig, log: Log): ISocketFactory {
  if (config.KAFKA_SSL !== true) return connectBroker
  const certificate = createClientCertificate(config, log)
  return (options) => connectBroker({ ...options, ssl: certificate() })
}

function securityOf(config: ClusterConfig, log: Log): Pick<ClientConfig, 'ssl' | 'sasl'> {
  const sasl = saslOf(config, log)
  return {
    ...(config.KAFKA_SSL === true ? { ssl: true } : {}),
    ...(sasl === undefined ? {} : { sasl }),
  }
}

function saslOf(config: ClusterConfig, log: Log): SASLOptions | undefined {
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username,
    KAFKA_SASL_PASSWORD: password,
  } = config
  if (mechanism === undefined) return undefined
  if (mechanism !== 'oauthbearer') return { mechanism, username: username ?? '', password: password ?? '' }
  const source = {
    url: config.KAFKA_OAUTH_TOKEN_URL ?? '',
    clientId: config.KAFKA_OAUTH_CLIENT_ID ?? '',
    clientSecret: config.KAFKA_OAUTH_CLIENT_SECRET ?? '',
    scope: config.KAFKA_OAUTH_SCOPE,
    extensions: config.KAFKA_OAUTH_EXTENSIONS,
  }
  return { mechanism, oauthBearerProvider: createTokenProvider(source, { clock: systemClock, log }) }
}

/** kafkajs repeats an entry several times a second while a broker is away. */
const repeatAfterMs = 10_000

/**
 * kafkajs logs errors that it then retries, so they are warnings here, throttled; producer and consumers
 * report real failures. Only named fields are copied: a request in an entry can hold bodies.
 */
function entryWriter(log: Log): (entry: LogEntry) => void {
  const warnedAt = new Map<string, number>()
  const isRepeated = (text: string) => {
    const now = Date.now()
    if (now - (warnedAt.get(text) ?? 0) < repeatAfterMs) return true
    if (warnedAt.size > 100) warnedAt.clear()
    warnedAt.set(text, now)
    return false
  }
  return ({ namespace, level, log: entry }) => {
    // Does not apply: our producer drops a producer id before it sends anything else with it
    // (producer-connection.ts).
    if (entry.message.startsWith('Limiting retries for the idempotent producer')) return
    const fields = {
      from: `kafkajs ${namespace}`,
      broker: entry['broker'] as unknown,
      group_id: entry['groupId'] as unknown,
      error: entry['error'] as unknown,
    }
    if (level <= kafkajs.logLevel.WARN) {
      const repeated = isRepeated(`${String(fields.broker)} ${String(fields.error)} ${entry.message}`)
      log[repeated ? 'debug' : 'warn'](fields, entry.message)
    } else if (level === kafkajs.logLevel.INFO) log.debug(fields, entry.message)
    else log.trace(fields, entry.message)
  }
}
