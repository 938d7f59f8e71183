import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startSecureKafka, type SecureKafka } from '#tests/support/start-secure-kafka.ts'
import { createLog } from '../log.ts'
import { createKafka, type ClusterConfig } from './create-kafka.ts'

const log = createLog('secure', 'silent')
const cacheDirectory = join(import.meta.dirname, '..', '..', '.cache')

describe('a broker with TLS and SASL', () => {
  let directory: string
  let secure: SecureKafka

  const configOf = ({ address, authority, user, password }: Omit<SecureKafka, 'stop'>): ClusterConfig => ({
    KAFKA_BROKERS: [address],
    KAFKA_SSL: true,
    KAFKA_SSL_CA: authority,
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD: password,
  })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-secure-'))
    secure = await startSecureKafka(directory, cacheDirectory, (kafka) => listTopics(configOf(kafka)))
  }, 120_000)

  afterAll(async () => {
    await secure.stop()
    await rm(directory, { recursive: true, force: true })
  }, 60_000)

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'lets a client in by %s',
    async (mechanism) => {
      await listTopics({ ...configOf(secure), KAFKA_SASL_MECHANISM: mechanism })
    },
    60_000,
  )

  test('is refused when its certificate is not of the authority that was given', async () => {
    await expect(listTopics({ ...configOf(secure), KAFKA_SSL_CA: undefined })).rejects.toThrow(/certificate/)
  }, 60_000)

  test('refuses a wrong password', async () => {
    await expect(listTopics({ ...configOf(secure), KAFKA_SASL_PASSWORD: 'wrong' })).rejects.toThrow(
      /authenticat|SASL/i,
    )
  }, 60_000)
})

async function listTopics(config: ClusterConfig): Promise<void> {
  const admin = createKafka(config, { clientId: 'secure', log }).admin()
  try {
    await admin.connect()
    await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}
