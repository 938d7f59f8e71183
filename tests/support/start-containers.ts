import { GenericContainer, getContainerRuntimeClient, Wait, type StartedTestContainer } from 'testcontainers'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { Addresses } from '#infra/embedded/start-temporary.ts'

/** Whether a Docker engine can be used here. */
export async function dockerAnswers(): Promise<boolean> {
  try {
    await getContainerRuntimeClient()
    return true
  } catch {
    // The library throws alike for every reason; embedded parts are the fallback for all.
    return false
  }
}

/** The same three parts as containers, for machines with a Docker engine. */
export async function startContainers(): Promise<Addresses & { stop: () => Promise<void> }> {
  // The broker advertises its own address, so its outer port must be known before the start.
  const [kafkaPort] = (await freePorts(1)) as [number]
  const outcomes = await Promise.allSettled([startKafka(kafkaPort), startRegistry(), startPostgres()])
  const stop = async () => {
    const started = outcomes.filter((one) => one.status === 'fulfilled')
    await Promise.all(started.map(({ value }) => value.stop()))
  }
  const [kafka, registry, postgres] = outcomes
  if (kafka.status === 'rejected' || registry.status === 'rejected' || postgres.status === 'rejected') {
    await stop()
    throw outcomes.find((one) => one.status === 'rejected')?.reason
  }
  const at = (container: StartedTestContainer, port: number) =>
    `${container.getHost()}:${container.getMappedPort(port)}`
  return {
    brokers: [`${kafka.value.getHost()}:${kafkaPort}`],
    registryUrl: `http://${at(registry.value, 8080)}/apis/ccompat/v7`,
    postgresUrl: `postgres://sluice:sluice@${at(postgres.value, 5432)}/sluice`,
    stop,
  }
}

function startKafka(port: number): Promise<StartedTestContainer> {
  return new GenericContainer('apache/kafka:4.1.1')
    .withExposedPorts({ container: port, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:29093',
      KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://localhost:29093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://localhost:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_MESSAGE_MAX_BYTES: String(18 * 1024 * 1024),
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '100',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start()
}

function startRegistry(): Promise<StartedTestContainer> {
  return new GenericContainer('quay.io/apicurio/apicurio-registry:3.0.9')
    .withExposedPorts(8080)
    .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', 8080))
    .start()
}

function startPostgres(): Promise<StartedTestContainer> {
  return new GenericContainer('postgres:18')
    .withExposedPorts(5432)
    .withEnvironment({ POSTGRES_USER: 'sluice', POSTGRES_PASSWORD: 'sluice', POSTGRES_DB: 'sluice' })
    .withCommand(['postgres', '-c', 'max_connections=300', '-c', 'fsync=off'])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
}
