import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { topicFields, topicSettingsOf } from '#infra/topic-settings.ts'
import { kafkaFields, parseConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import { withFewerPartitions } from './fewer-partitions.ts'
import { createTestDatabase, deleteTopics, randomName, testInfrastructure } from './infrastructure.ts'
import { startServiceProcess, type ServiceProcess } from './service-process.ts'
import { startWithUndo, type Undo } from './undo.ts'

export interface StackOptions {
  /** The model provider, which is outside the system. */
  upstreamUrl: string
  /** Hosts that webhooks may reach without TLS. */
  insecureWebhookHosts: string
  /** A migrated database; absent: a new one on the shared Postgres. */
  databaseUrl?: string
  /** Another Kafka than the tests', with a user for each process. */
  kafka?: UsersOfKafka
  /** Variables for every service, for instance the judge's address. */
  environment?: Readonly<Record<string, string>>
}

export interface UsersOfKafka {
  /** How a process connects, and as which user. */
  environmentOf(client: ServiceName | 'migrate'): Readonly<Record<string, string>>
  /** Grants users their rights on names with this prefix. Called before any of them exists. */
  allow(prefix: string): Promise<void>
}

/** Every service in its own process, on the real broker, registry and Postgres, with unique names. */
export interface Stack {
  gatewayUrl: string
  apiUrl: string
  projectId: string
  apiKey: string
  proxyApiKey: string
  /** INTERNAL_API_SECRET. */
  operatorSecret: string
  databaseUrl: string
  topicPrefix: string
  processes: Readonly<Record<ServiceName, ServiceProcess>>
  /** Starts one more process of a service. */
  startAnother(name: 'sink' | 'scorer' | 'notifier'): Promise<ServiceProcess>
  /** Creates another tenant. */
  createProject(): Promise<{ projectId: string; apiKey: string }>
  stop(): Promise<void>
}

type ServiceName = 'api' | 'sink' | 'scorer' | 'notifier' | 'gateway'

export function startStack(options: StackOptions): Promise<Stack> {
  return startWithUndo((undo) => startWith(options, undo))
}

async function startWith(options: StackOptions, undo: Undo): Promise<Omit<Stack, 'stop'>> {
  const infrastructure = testInfrastructure()
  const topicPrefix = `${randomName('stack')}.`
  const directory = await mkdtemp(join(tmpdir(), 'sluice-stack-'))
  undo.push(() => rm(directory, { recursive: true, force: true }))
  const database = options.databaseUrl === undefined ? await createTestDatabase() : undefined
  const databaseUrl = database?.url ?? options.databaseUrl ?? ''
  const starting: Promise<ServiceProcess>[] = []
  undo.push(
    () => database?.drop(),
    () => deleteTopics(topicPrefix),
    () => stopAll(starting),
  )
  await prepareTopics(topicPrefix, options)
  const [apiPort, gatewayPort, ...operations] = (await freePorts(7)) as [number, number, ...number[]]
  const apiUrl = `http://127.0.0.1:${apiPort}`
  const operator = randomBytes(16).toString('hex')
  const proxyApiKey = `proxy-${randomBytes(8).toString('hex')}`
  const shared = {
    LOG_LEVEL: 'info',
    KAFKA_BROKERS: infrastructure.brokers.join(','),
    SCHEMA_REGISTRY_URL: infrastructure.registryUrl,
    DATABASE_URL: databaseUrl,
    TOPIC_PREFIX: topicPrefix,
    BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    SEARCH_KEY: `s1:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_INSECURE: options.insecureWebhookHosts,
    ...options.environment,
  }
  const startOn = async (
    port: number | undefined,
    name: ServiceName,
    own: Readonly<Record<string, string>>,
  ) => {
    const operationsPort = port ?? (await freePorts(1))[0] ?? 0
    return startServiceProcess({
      name,
      operationsPort,
      environment: { ...shared, ...options.kafka?.environmentOf(name), ...own },
      logFile: join(directory, `${name}-${operationsPort}.log`),
    })
  }
  const start = (name: ServiceName, own: Readonly<Record<string, string>> = {}) => {
    const process = startOn(operations.pop(), name, own)
    starting.push(process)
    return process
  }
  const api = await start('api', { API_PORT: String(apiPort), INTERNAL_API_SECRET: operator })
  const newProject = () => createProject(apiUrl, operator)
  const { projectId, apiKey } = await newProject()
  const [sink, scorer, notifier, gateway] = await Promise.all([
    start('sink'),
    start('scorer'),
    start('notifier'),
    start('gateway', {
      GATEWAY_PORT: String(gatewayPort),
      UPSTREAM_URL: options.upstreamUrl,
      PROXY_API_KEY: proxyApiKey,
      API_BACKEND_URL: apiUrl,
      SERVICE_API_KEY: apiKey,
      SPOOL_DIR: join(directory, 'spool'),
      SPOOL_KEY: randomBytes(32).toString('base64'),
    }),
  ])
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`
  const processes = { api, sink, scorer, notifier, gateway }
  const keys = { apiKey, proxyApiKey, operatorSecret: operator }
  const addresses = { gatewayUrl, apiUrl, projectId, databaseUrl, topicPrefix, ...keys }
  return { ...addresses, processes, startAnother: start, createProject: newProject }
}

/** Also stops those that are still starting while another has failed. */
async function stopAll(starting: readonly Promise<ServiceProcess>[]): Promise<void> {
  const outcomes = await Promise.allSettled(starting)
  await Promise.all(
    outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.stop()] : [])),
  )
}

async function prepareTopics(prefix: string, { kafka: users, environment }: StackOptions): Promise<void> {
  const { brokers, registryUrl } = testInfrastructure()
  const log = createLog('test', 'silent')
  await users?.allow(prefix)
  const given = users?.environmentOf('migrate') ?? { KAFKA_BROKERS: brokers.join() }
  const parsed = parseConfig(z.object({ ...kafkaFields, ...topicFields }), { ...environment, ...given })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const kafka = createKafka(parsed.value, { clientId: 'test', log })
  const settings = withFewerPartitions(topicSettingsOf(parsed.value))
  await createTopics({ kafka, prefix, replicationFactor: 1, settings, log })
  await registerSchemas({ registryUrl, prefix, log })
}

async function createProject(
  apiUrl: string,
  operator: string,
): Promise<{ projectId: string; apiKey: string }> {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await fetch(apiUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const project = await post<{ id: string }>('/api/projects', { name: 'test' })
  const key = await post<{ key: string }>(`/api/projects/${project.id}/keys`, { name: 'test' })
  return { projectId: project.id, apiKey: key.key }
}
