import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { findExpiries, firstExpiry, measureCertificates } from './certificate-expiry.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'

const endsLater = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUfnU5a9eKFYe18qBvqDSj10xDDfowCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFZmlyc3QwHhcNMjYxMTIxMjAwNTUxWhcNNDYwMTIwMjAwNTUx
WjAQMQ4wDAYDVQQDDAVmaXJzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCAR
zdJN6BES1hJefJNbEpFzF+s5L8e+s264/D+7l5I/b4erDiqnGOZnnHjcItc6erw3
F1EyJMve6Stq7pLisOejUzBRMB0GA1UdDgQWBBR/h6b+mFXYukeO7jVg8rcamvbT
0DAfBgNVHSMEGDAWgBR/h6b+mFXYukeO7jVg8rcamvbT0DAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIBuqQmiaCKg4fDxWytdzMoBeSMRr7Kll8DPa
7rYG3NJxAiEA3UwEcJyZhQ9TGdJmo/ktdUXIUtEP824I/wqtjl8h52Q=
-----END CERTIFICATE-----`
const endsFirst = `-----BEGIN CERTIFICATE-----
MIIBeDCCAR2gAwIBAgIUM4oHcCm4C/5vlteXBdHs/9qbXhYwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGc2Vjb25kMB4XDTI2MTEyMTIwMDU1MVoXDTM1MDIwNzIwMDU1
MVowETEPMA0GA1UEAwwGc2Vjb25kMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
3e/vM7HvbWflyjoxI+PsktGivp47yEIREuqzryOIiA6JAcQrYfPXx50sriyLugNg
wOso87vGEbN+FYbUz6r2eaNTMFEwHQYDVR0OBBYEFBwB67dbVbySUrglCU6Fa0lF
mS+4MB8GA1UdIwQYMBaAFBwB67dbVbySUrglCU6Fa0lFmS+4MA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAJe6+mMvA1xI56DFFB/efx/7W/Az5Rao
W2H9V5MMa1j3AiEAs7WUiV+6unwRAXOb72ntwhyzBM3PgF4VZd57NJcCiR8=
-----END CERTIFICATE-----`
const firstEnd = Date.parse('2035-02-07T20:05:51Z') / 1_000

test('a bundle ends with the first of its certificates', () => {
  expect(firstExpiry(`${endsLater}\n${endsFirst}\n`)).toBe(firstEnd)
  expect(firstExpiry('no certificate')).toBeUndefined()
})

test('every variable that holds certificates is told, keys and unreadable ones are not', async () => {
  const metrics = createMetrics()
  const log = createLog('test', 'silent')
  const config = {
    KAFKA_SSL_CA: endsFirst,
    KAFKA_SSL_KEY: '-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----',
    DATABASE_SSL_CA: '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----',
    OPS_PORT: 9001,
  }
  measureCertificates(config, { metrics, log })
  const told = await metrics.registry.getSingleMetric('sluice_certificate_expiry_timestamp_seconds')?.get()
  expect(told?.values).toEqual([{ labels: { variable: 'KAFKA_SSL_CA' }, value: firstEnd }])
})

test('the files that DATABASE_URL names for pg are read, and one that is missing is reported without the password', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-certificates-'))
  const [authority, client, nowhere] = ['ca.pem', 'client.pem', 'none.pem'].map((name) =>
    join(directory, name),
  )
  await writeFile(authority ?? '', endsLater)
  await writeFile(client ?? '', endsFirst)
  const expiriesOf = (query: string) =>
    findExpiries({ DATABASE_URL: `postgres://sluice:secret@db:5432/sluice${query}` })
  try {
    expect(expiriesOf(`?sslrootcert=${authority}&sslcert=${client}&sslkey=${client}`)).toEqual([
      { variable: 'DATABASE_URL', ends: firstEnd },
    ])
    expect(expiriesOf('?sslmode=require')).toEqual([])
    expect(expiriesOf(`?sslrootcert=${nowhere}`)).toEqual([
      { variable: 'DATABASE_URL', problem: expect.stringMatching(/^ENOENT.*none\.pem/) },
    ])
  } finally {
    await rm(directory, { recursive: true })
  }
})
