import { topics, type TopicDefinition } from './topics.ts'

const { requestLogged, requestEphemeral, scoreJobs, scoreJobsEphemeral, scoreJobsReplay } = topics
const { scoreJobsLarge, scoreJobsLargeEphemeral } = topics
const { scoreRecorded, eventRaised, deliveryDue, deliveryDead } = topics
const retries = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]
const withDeadLetters: readonly TopicDefinition[] = Object.values(topics).filter((topic) => topic.deadLetters)

/** A process's topics and consumer groups. Dead-letter topics follow from what it reads. */
export interface KafkaAccess {
  /** The consumer groups that it joins, with the topics of each. */
  groups: Readonly<Record<string, readonly TopicDefinition[]>>
  writes: readonly TopicDefinition[]
  /** Reads dead-letter topics, to index or redrive them. */
  readsDeadLetters?: boolean
  /** Prefix of the temporary groups in which it reads history. */
  temporaryGroups?: string
  /** Groups whose progress it reads. */
  watchedGroups?: readonly string[] | 'all'
  /** Rights on all topics beyond reading and writing. */
  onAllTopics?: readonly ('DESCRIBE' | 'DESCRIBE_CONFIGS')[]
}

export interface ServiceDefinition {
  /** One sentence for docs/services.md. */
  purpose: string
  /** The port for applications or users; absent: none. */
  port?: number
  /** /healthz, /readyz and /metrics. */
  operationsPort: number
  /** The process that also serves its routes. Then nothing starts its own `main.ts` by default. */
  servedBy?: 'api'
  /** Calls the API over HTTP. */
  callsApi?: boolean
  /** Calls addresses outside the installation that only settings or users know. */
  callsOutside?: boolean
  /** `login`: the rights of DATABASE_URL. `api`: the roles sluice_api and, for operators, sluice_operator. */
  database?: 'login' | 'api'
  kafka?: KafkaAccess
  /** The setting without which it does not use Kafka. */
  kafkaOnlyWith?: string
  /** Groups whose lag scales it in the chart. */
  scaledBy?: readonly string[]
  /** Node options for `main.ts`. */
  nodeOptions?: string
  /** Variables that every way of starting it sets. */
  environment?: Readonly<Record<string, string>>
}

const scorerGroups = {
  scorer: [scoreJobs, scoreJobsEphemeral],
  'scorer-large': [scoreJobsLarge, scoreJobsLargeEphemeral],
  'scorer-replay': [scoreJobsReplay],
}
const sinkGroups = {
  'sink-calls': [requestLogged, requestEphemeral],
  'sink-scores': [scoreRecorded],
  // Reads dead-letter topics only.
  'sink-dead-letters': [],
}
const notifierGroups = {
  'notifier-fan-out': [eventRaised],
  'notifier-due': [deliveryDue],
  'notifier-retry': retries,
}

/**
 * The one table of services, by folder name. `scripts/up`, Kafka rights, docs/services.md and the chart's
 * templates are made from it. Compose, the chart's values, Prometheus and the READMEs are checked against it
 * (infra/service-places.test.ts).
 */
export const services = {
  gateway: {
    purpose: 'forwards calls to the model provider and records them',
    port: 8080,
    operationsPort: 9080,
    callsApi: true,
    callsOutside: true,
    kafka: { groups: {}, writes: [requestLogged, requestEphemeral] },
    kafkaOnlyWith: 'GATEWAY_DELIVERY=kafka',
    /**
     * Returns freed buffers from 256 KiB on to the system. By default glibc raises that threshold to the
     * largest freed buffer: 514 MB stayed resident after 200 bodies of 10 MB, 32 at once, against 298 to 331
     * MB. A fixed mmap threshold alone sets the trim threshold to 128 KiB, so the heap shrinks with nearly
     * every read, for a fifth more CPU on streams. The image sets the same.
     */
    environment: { MALLOC_MMAP_THRESHOLD_: '262144', MALLOC_TRIM_THRESHOLD_: '67108864' },
  },
  api: {
    purpose: 'the REST API, with the routes of ingest',
    port: 8000,
    operationsPort: 9000,
    database: 'api',
    kafka: {
      groups: {},
      // A redrive sends a dead letter to its first topic.
      writes: [requestLogged, requestEphemeral, deliveryDue, ...withDeadLetters],
      readsDeadLetters: true,
      temporaryGroups: 'redrive-',
      // `/api/operations` shows the lag of every group.
      watchedGroups: 'all',
      onAllTopics: ['DESCRIBE'],
    },
  },
  sink: {
    purpose: 'stores calls and scores in Postgres, relays events, keeps the tables',
    operationsPort: 9001,
    database: 'login',
    kafka: {
      groups: sinkGroups,
      writes: [scoreJobs, scoreJobsEphemeral, scoreJobsReplay, eventRaised],
      readsDeadLetters: true,
      temporaryGroups: 'sink-replay-',
      // Replays keep pace with the scorers; the sweep waits for jobs that scorers have not reached.
      watchedGroups: Object.keys(scorerGroups),
      // Exports replicas and `min.insync.replicas` for alerts.
      onAllTopics: ['DESCRIBE', 'DESCRIBE_CONFIGS'],
    },
    scaledBy: ['sink-calls', 'sink-scores'],
  },
  scorer: {
    purpose: 'scores calls by detectors and a judge',
    operationsPort: 9002,
    callsOutside: true,
    database: 'login',
    kafka: {
      groups: scorerGroups,
      // A large call moves to its own lane; a call that was too slow returns to the end of its lane.
      writes: [scoreJobsLarge, scoreJobsLargeEphemeral, scoreJobsReplay, scoreRecorded],
    },
    scaledBy: ['scorer', 'scorer-large'],
  },
  notifier: {
    purpose: 'sends events to webhooks',
    operationsPort: 9003,
    callsOutside: true,
    database: 'login',
    kafka: { groups: notifierGroups, writes: [deliveryDue, ...retries, deliveryDead] },
    scaledBy: ['notifier-fan-out', 'notifier-due'],
    /**
     * In-flight deliveries outlive V8's young generation, so each scavenge copies them. With 64 MB instead of
     * 16 there are a third of the scavenges and an eighth less CPU per delivery (184 to 161 µs, 2 cores), for
     * at most 150 MB.
     */
    nodeOptions: '--max-semi-space-size=64',
  },
  redteam: {
    purpose: 'carries out runs of attacks against an agent',
    operationsPort: 9006,
    callsApi: true,
    callsOutside: true,
    database: 'login',
  },
  dashboard: {
    purpose: "serves people's browsers",
    port: 3000,
    operationsPort: 9004,
    callsApi: true,
  },
  ingest: {
    purpose: 'takes records and publishes them',
    port: 8000,
    operationsPort: 9005,
    servedBy: 'api',
    database: 'api',
    kafka: { groups: {}, writes: [requestLogged, requestEphemeral] },
  },
} as const satisfies Readonly<Record<string, ServiceDefinition>>

export type ServiceName = keyof typeof services
/** Services that an installation runs as their own processes. */
export type ProcessName = Exclude<ServiceName, 'ingest'>

const definitions: Readonly<Record<ServiceName, ServiceDefinition>> = services
const names = Object.keys(services) as ServiceName[]

/** In the order of the table. */
export const processNames = names.filter(
  (name): name is ProcessName => definitions[name].servedBy === undefined,
)

/** A row of the table in its general type. */
export function definitionOf(name: ServiceName): ServiceDefinition {
  return definitions[name]
}

/** The consumer groups of all services. */
export const allGroups: readonly string[] = processNames.flatMap((name) =>
  Object.keys(definitions[name].kafka?.groups ?? {}),
)
