import { join } from 'node:path'

/** Address and directory of one broker of a cluster. */
export interface BrokerPlace {
  nodeId: number
  directory: string
  logFile: string
  port: number
  controllerPort: number
  /**
   * A second listener for clients behind a proxy: its port, and the port that clients are told. Brokers use
   * the first.
   */
  clients?: { port: number; advertisedPort: number }
  /** Additional broker settings. */
  settings?: Readonly<Record<string, string>>
}

// The largest body topics take 17 MiB (design §1); the rest is for their headers.
const MESSAGE_MAX_BYTES = 18 * 1024 * 1024

/** Configuration of one broker, which is also a controller. Topics define their retention. */
export function kafkaProperties(place: BrokerPlace, quorum: readonly BrokerPlace[]): string {
  const replicas = Math.min(3, quorum.length)
  const properties: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': place.nodeId,
    'controller.quorum.voters': quorum
      .map((peer) => `${peer.nodeId}@127.0.0.1:${peer.controllerPort}`)
      .join(','),
    listeners: [
      ...listen(place.port, place.clients?.port),
      `CONTROLLER://127.0.0.1:${place.controllerPort}`,
    ].join(','),
    'advertised.listeners': listen(place.port, place.clients?.advertisedPort).join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': join(place.directory, 'log'),
    'auto.create.topics.enable': false,
    'message.max.bytes': MESSAGE_MAX_BYTES,
    'replica.fetch.max.bytes': MESSAGE_MAX_BYTES,
    'default.replication.factor': replicas,
    'min.insync.replicas': Math.max(1, replicas - 1),
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': 8,
    // A month. With 7 days (Kafka's default, and our retention) a group that was off for longer would not
    // learn what it missed.
    'offsets.retention.minutes': 43_200,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': Math.max(1, replicas - 1),
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': Math.max(1, replicas - 1),
    // Consumers of a group start together; waiting 3 s (the default) for more would only slow every start.
    'group.initial.rebalance.delay.ms': 100,
    'log.cleaner.dedupe.buffer.size': 8 * 1024 * 1024,
  }
  Object.assign(properties, place.settings)
  if (quorum.length > 1) {
    // Detects a killed broker after 3 s instead of 9: tests of broker loss wait for this.
    properties['broker.session.timeout.ms'] = 3000
    properties['broker.heartbeat.interval.ms'] = 500
  }
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

function listen(port: number, clientPort: number | undefined): string[] {
  const ours = `PLAINTEXT://127.0.0.1:${port}`
  return clientPort === undefined ? [ours] : [ours, `CLIENTS://127.0.0.1:${clientPort}`]
}
