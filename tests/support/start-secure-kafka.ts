import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { awaitReady } from '#infra/embedded/await-ready.ts'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { kafkaProperties } from '#infra/embedded/kafka-properties.ts'
import { startJava } from '#infra/embedded/start-java.ts'

const run = promisify(execFile)
const logConfiguration = join(import.meta.dirname, '..', '..', 'infra', 'embedded', 'log4j2.properties')

export interface SecureKafka {
  /** TLS with certificates of `authority`; SASL as `user` or one of `users`, with `password`. */
  address: string
  /** PEM. */
  authority: string
  /** The superuser; also by SCRAM. */
  user: string
  /** Users without rights. */
  users: readonly string[]
  password: string
  stop(): Promise<void>
}

/** A broker as customers run it: TLS, SASL by PLAIN or SCRAM, ACLs. `probe` resolves when it answers. */
export async function startSecureKafka(
  directory: string,
  cacheDirectory: string,
  users: readonly string[],
  probe: (kafka: Omit<SecureKafka, 'stop'>) => Promise<void>,
): Promise<SecureKafka> {
  const { kafkaClassPath, classArchive } = await fetchJars(cacheDirectory, () => undefined)
  const [port = 0, controllerPort = 0] = await freePorts(2)
  const [user, password] = ['sluice', 'a-password-for-tests']
  const place = { nodeId: 1, directory, logFile: join(directory, 'broker.log'), port, controllerPort }
  const { authority, keyStore } = await makeCertificates(directory)
  const logins = [user, ...users].map((name) => `user_${name}="${password}"`).join(' ')
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required ${logins};`
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
  const secure = {
    listeners: `SASL_SSL://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `SASL_SSL://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'SASL_SSL',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `${plain.slice(0, -1)} username="${user}" password="${password}";`,
    'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': scram,
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': scram,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    // The controller's own listener is anonymous.
    'super.users': `User:${user};User:ANONYMOUS`,
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStore,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': join(directory, 'authority.pem'),
  }
  const configuration = join(directory, 'server.properties')
  // Of two lines with one name, the last counts.
  const lines = Object.entries(secure).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(configuration, kafkaProperties(place, [place]) + lines.join(''))
  const java = (...args: string[]) =>
    startJava({
      args: [`-Dlog4j2.configurationFile=${logConfiguration}`, '-cp', kafkaClassPath, ...args],
      heapMb: 512,
      logFile: place.logFile,
      classArchive: classArchive('kafka'),
    })
  const credentials = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${user},password=${password}]`,
  ])
  const id = Buffer.from('sluice-secure-00').toString('base64url')
  const format = ['kafka.tools.StorageTool', 'format', '-t', id, '-c', configuration, ...credentials]
  const { code } = await (await java(...format)).exited
  if (code !== 0) throw new Error(await readFile(place.logFile, 'utf8'))
  const broker = await java('kafka.Kafka', configuration)
  const kafka = { address: `127.0.0.1:${port}`, authority, user, users, password }
  try {
    await awaitReady({
      name: 'Kafka',
      probe: () => probe(kafka),
      process: broker,
      logFile: place.logFile,
      patienceMs: 60_000,
    })
  } catch (error) {
    await broker.stop()
    throw error
  }
  return { ...kafka, stop: broker.stop }
}

async function makeCertificates(directory: string): Promise<{ authority: string; keyStore: string }> {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: directory })
  const key = ['-newkey', 'rsa:2048', '-nodes']
  const ca = [
    '-x509',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    'authority.key',
    '-out',
    'authority.pem',
  ]
  await openssl('req', ...key, ...ca)
  await openssl('req', ...key, '-subj', '/CN=127.0.0.1', '-keyout', 'broker.key', '-out', 'broker.csr')
  await writeFile(join(directory, 'names'), 'subjectAltName=IP:127.0.0.1\n')
  const signed = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial', '-extfile', 'names']
  await openssl('x509', '-req', '-days', '2', '-in', 'broker.csr', ...signed, '-out', 'broker.pem')
  const read = (name: string) => readFile(join(directory, name), 'utf8')
  const keyStore = join(directory, 'keystore.pem')
  await writeFile(keyStore, (await read('broker.key')) + (await read('broker.pem')))
  return { authority: await read('authority.pem'), keyStore }
}
