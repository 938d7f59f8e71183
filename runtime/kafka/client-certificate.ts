import { readFileSync, statSync } from 'node:fs'
import type { KafkaConfig } from '../config.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { areCertificates, isKeyOf, isPrivateKey } from '../read-certificates.ts'
import { sourceFileOf } from '../source-files.ts'

type CertificateConfig = Partial<Pick<KafkaConfig, 'KAFKA_SSL_CA' | 'KAFKA_SSL_CERT' | 'KAFKA_SSL_KEY'>>

export interface TlsParts {
  ca?: string[]
  cert?: string
  key?: string
}

/**
 * Authority, certificate and key for the next connection. Those of files are read again when the files have
 * changed: certificates of a mesh or of cert-manager live for hours. What cannot be used is not taken: the
 * last ones stay, and the log says why.
 */
export function createClientCertificate(config: CertificateConfig, log: Log): () => TlsParts {
  const names = ['KAFKA_SSL_CA', 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'] as const
  const files = names.flatMap((name) => {
    const path = sourceFileOf(config, name)
    return path === undefined ? [] : [{ name, path }]
  })
  const current = Object.fromEntries(names.map((name) => [name, config[name]]))
  const stamp = () => files.map(({ path }) => `${statSync(path).mtimeMs} ${statSync(path).ino}`).join(' ')
  let seen: string | undefined
  const reload = () => {
    const now = stamp()
    if (now === seen) return
    const read = { ...current }
    for (const { name, path } of files) read[name] = readFileSync(path, 'utf8').trimEnd()
    const fault = faultOf(read)
    if (fault !== undefined) throw new Error(fault)
    Object.assign(current, read)
    // The first connection reads what the configuration has just read.
    if (seen !== undefined)
      log.info({ files: files.map(({ path }) => path) }, 'certificates for Kafka were read again')
    seen = now
  }
  return () => {
    if (files.length > 0) attempt(reload, log)
    const { KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: cert, KAFKA_SSL_KEY: key } = current
    return {
      ...(ca === undefined ? {} : { ca: [ca] }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    }
  }
}

function attempt(reload: () => void, log: Log): void {
  try {
    reload()
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'new certificates for Kafka cannot be used; the last ones stay')
  }
}

/** Files of a pair are replaced one after the other: half a pair is not a pair yet. */
function faultOf({
  KAFKA_SSL_CA: ca,
  KAFKA_SSL_CERT: cert,
  KAFKA_SSL_KEY: key,
}: Partial<Record<string, string | undefined>>): string | undefined {
  if (ca !== undefined && !areCertificates(ca)) return 'KAFKA_SSL_CA_FILE: expected whole certificates'
  if (cert !== undefined && !areCertificates(cert)) return 'KAFKA_SSL_CERT_FILE: expected whole certificates'
  if (key !== undefined && !isPrivateKey(key)) return 'KAFKA_SSL_KEY_FILE: expected a whole private key'
  if (cert !== undefined && key !== undefined && !isKeyOf(key, cert))
    return 'KAFKA_SSL_KEY_FILE: is not the key of KAFKA_SSL_CERT_FILE'
  return undefined
}
