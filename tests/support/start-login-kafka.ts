import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fetchJars } from '#infra/embedded/fetch-jars.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { awaitBrokers, launchBroker } from '#infra/embedded/start-kafka.ts'

const run = promisify(execFile)

export interface LoginKafka {
  /** Asks for a token (OAUTHBEARER) and takes those that are signed by nobody; logins last `reauthMs`. */
  tokens: string
  /** TLS, and asks for a certificate of `trusted`. */
  certificates: string
  /** PEM of the broker's authority. */
  authority: string
  /** A client's certificate and key, of the authority that the broker trusts or of another. */
  trusted: { cert: string; key: string }
  stranger: { cert: string; key: string }
  stop(): Promise<void>
}

/** One broker with a listener for tokens and one for certificates. */
export async function startLoginKafka(
  directory: string,
  cacheDirectory: string,
  reauthMs: number,
): Promise<LoginKafka> {
  const jars = await fetchJars(cacheDirectory, () => undefined)
  const [port = 0, controllerPort = 0, tokenPort = 0, tlsPort = 0] = await freePorts(4)
  const { authority, trusted, stranger } = await makeCertificates(directory)
  const handlers = 'org.apache.kafka.common.security.oauthbearer'
  const listeners = [
    `PLAINTEXT://127.0.0.1:${port}`,
    `TOKENS://127.0.0.1:${tokenPort}`,
    `CERTIFICATES://127.0.0.1:${tlsPort}`,
  ]
  const settings = {
    listeners: [...listeners, `CONTROLLER://127.0.0.1:${controllerPort}`].join(','),
    'advertised.listeners': listeners.join(','),
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,TOKENS:SASL_PLAINTEXT,CERTIFICATES:SSL,CONTROLLER:PLAINTEXT',
    'listener.name.tokens.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.tokens.oauthbearer.sasl.jaas.config': `${handlers}.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    'listener.name.tokens.oauthbearer.connections.max.reauth.ms': reauthMs,
    'listener.name.certificates.ssl.client.auth': 'required',
    'listener.name.certificates.ssl.keystore.type': 'PEM',
    'listener.name.certificates.ssl.keystore.location': join(directory, 'keystore.pem'),
    'listener.name.certificates.ssl.truststore.type': 'PEM',
    'listener.name.certificates.ssl.truststore.location': join(directory, 'authority.pem'),
  }
  const place = {
    nodeId: 1,
    directory: join(directory, 'broker'),
    logFile: join(directory, 'broker.log'),
    port,
    controllerPort,
    settings: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
  }
  const clusterId = Buffer.from('sluice-logins-00').toString('base64url')
  const broker = await launchBroker({ place, quorum: [place], clusterId, jars })
  try {
    const waiting = { name: 'Kafka', process: broker, logFile: place.logFile, patienceMs: 60_000 }
    await awaitBrokers([`127.0.0.1:${port}`], 1, waiting)
  } catch (error) {
    await broker.stop()
    throw error
  }
  const [tokens, certificates] = [`127.0.0.1:${tokenPort}`, `127.0.0.1:${tlsPort}`]
  return { tokens, certificates, authority, trusted, stranger, stop: broker.stop }
}

async function makeCertificates(directory: string) {
  const openssl = (...args: string[]) => run('openssl', args, { cwd: directory })
  const read = (name: string) => readFile(join(directory, name), 'utf8')
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const authority = (name: string) =>
    openssl(
      'req',
      ...ec,
      '-x509',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  await writeFile(join(directory, 'names'), 'subjectAltName=IP:127.0.0.1\n')
  const sign = async (name: string, by: string) => {
    await openssl('req', ...ec, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const signed = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', '-extfile', 'names']
    await openssl('x509', '-req', '-days', '2', '-in', `${name}.csr`, ...signed, '-out', `${name}.pem`)
    return { cert: await read(`${name}.pem`), key: await read(`${name}.key`) }
  }
  await authority('authority')
  await authority('elsewhere')
  const broker = await sign('broker', 'authority')
  await writeFile(join(directory, 'keystore.pem'), broker.key + broker.cert)
  const [trusted, stranger] = [await sign('trusted', 'authority'), await sign('stranger', 'elsewhere')]
  return { authority: await read('authority.pem'), trusted, stranger }
}
