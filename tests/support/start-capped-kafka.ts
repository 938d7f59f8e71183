import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { awaitBrokers, brokerAddress, launchBroker } from '#infra/embedded/start-kafka.ts'
import { cappedTopicsClass } from './capped-topics-class.ts'

/** A broker as hosted Kafka runs it: it creates no topic for records over 8 MiB. */
export async function startCappedKafka(
  directory: string,
  cacheDirectory: string,
): Promise<{ address: string; stop: () => Promise<void> }> {
  const found = await fetchJars(cacheDirectory, () => undefined)
  const classes = join(directory, 'classes')
  await mkdir(classes, { recursive: true })
  await writeFile(join(classes, 'CappedTopics.class'), cappedTopicsClass)
  const jars = {
    ...found,
    kafkaClassPath: [classes, found.kafkaClassPath].join(delimiter),
    // The shared archive belongs to another class path.
    classArchive: (program: string) => join(directory, `${program}.jsa`),
  }
  const [port, controllerPort] = (await freePorts(2)) as [number, number]
  const logFile = join(directory, 'capped-kafka.log')
  const settings = { 'create.topic.policy.class.name': 'CappedTopics' }
  const place = { nodeId: 1, directory: join(directory, 'kafka'), logFile, port, controllerPort, settings }
  const clusterId = Buffer.from('sluice-capped-00').toString('base64url')
  const broker = await launchBroker({ place, quorum: [place], clusterId, jars })
  const address = brokerAddress(place)
  try {
    await awaitBrokers([address], 1, { name: 'Kafka', process: broker, logFile })
  } catch (error) {
    await broker.stop()
    throw error
  }
  return { address, stop: broker.stop }
}
