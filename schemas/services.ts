import { topics, type TopicDefinition } from './topics.ts'

const { requestLogged, requestEphemeral, scoreJobs, scoreJobsEphemeral, scoreJobsReplay } = topics
const { scoreJobsLarge, scoreJobsLargeEphemeral } = topics
const { scoreRecorded, eventRaised, deliveryDue, deliveryDead } = topics
const retries = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]
const withDeadLetters: readonly TopicDefinition[] = Object.values(topics).filter((topic) => topic.deadLetters)

/** What a process does with topics and consumer groups. Dead letters follow from what is read. */
export interface KafkaAccess {
  /** Consumer groups that it joins, and what each reads. */
  groups: Readonly<Record<string, readonly TopicDefinition[]>>
  writes: readonly TopicDefinition[]
  /** Looks at dead letters themselves: to index them, to send them again. */
  readsDeadLetters?: boolean
  /** Each reading of history makes a group of its own and deletes it afterwards; their names start so. */
  temporaryGroups?: string
  /** Groups whose progress it looks at. */
  watchedGroups?: readonly string[] | 'all'
  /** On all topics, beside what reading and writing need. */
  onAllTopics?: readonly ('DESCRIBE' | 'DESCRIBE_CONFIGS')[]
}

export interface ServiceDefinition {
  /** One sentence for docs/services.md. */
  purpose: string
  /** Where applications or people reach it; absent: nobody does. */
  port?: number
  /** /healthz, /readyz and /metrics. */
  operationsPort: number
  /** Its routes are served by that process; alone it is started by its `main.ts`, and nothing starts it. */
  servedBy?: 'api'
  /** Calls the API over HTTP. */
  callsApi?: boolean
  /** Calls addresses outside the installation that only settings or users know. */
  callsOutside?: boolean
  /** `login`: the rights of DATABASE_URL's user. `api`: the role sluice_api, and sluice_operator for operators. */
  database?: 'login' | 'api'
  kafka?: KafkaAccess
  /** Speaks to Kafka with this setting alone. */
  kafkaOnlyWith?: string
  /** Groups by whose lag the chart scales it. */
  scaledBy?: readonly string[]
  /** For Node, before `main.ts`. */
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
  // Reads dead letters alone.
  'sink-dead-letters': [],
}
const notifierGroups = {
  'notifier-fan-out': [eventRaised],
  'notifier-due': [deliveryDue],
  'notifier-retry': retries,
}

/**
 * The one table of services, by the name of their folder. `scripts/up`, the rights on Kafka, docs/services.md and
 * the chart's templates are made from it. Compose, the chart's values, Prometheus and the READMEs are checked
 * against it (infra/service-places.test.ts).
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
     * Freed buffers from 256 KiB on go back to the system. By itself glibc raises that threshold to the largest
     * buffer freed: 514 MB stayed resident after 200 bodies of 10 MB, 32 at once; with these and what the gateway
     * does itself, 298 to 331 MB. A fixed first threshold fixes the second at 128 KiB: the heap then shrinks with
     * nearly every read, which took a fifth more processor time for streams. The image sets the same.
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
      // A dead letter is sent again to where it came from.
      writes: [requestLogged, requestEphemeral, deliveryDue, ...withDeadLetters],
      readsDeadLetters: true,
      temporaryGroups: 'redrive-',
      // `/api/operations` shows everybody's lag.
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
      // Replays are fed no faster than scorers take them; the sweep waits for what scorers have not come to.
      watchedGroups: Object.keys(scorerGroups),
      // It measures replicas and `min.insync.replicas` for alerts.
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
      // A large call goes to the lane of its own; a call that was too slow goes back to the end of its lane.
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
     * What it has in flight outlives the space for new objects, so each filling of that space copies all of it.
     * With 64 MB instead of 16 there are a third of the collections and an eighth less processor time a delivery
     * (184 to 161 µs, 2 cores), for at most 150 MB more.
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
/** Those that an installation runs as processes of their own. */
export type ProcessName = Exclude<ServiceName, 'ingest'>

const definitions: Readonly<Record<ServiceName, ServiceDefinition>> = services
const names = Object.keys(services) as ServiceName[]

/** In the order of the table. */
export const processNames = names.filter(
  (name): name is ProcessName => definitions[name].servedBy === undefined,
)

/** A row of the table, as every row is. */
export function definitionOf(name: ServiceName): ServiceDefinition {
  return definitions[name]
}

/** The consumer groups of all services. */
export const allGroups: readonly string[] = processNames.flatMap((name) =>
  Object.keys(definitions[name].kafka?.groups ?? {}),
)
