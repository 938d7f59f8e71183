import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import { examineCertificates } from './examine-certificates.ts'
import { examineSecrets } from './examine-secrets.ts'
import { examineSpool } from './examine-spool.ts'
import { findSystem, type System } from './find-system.ts'
import { wrongIn } from './testing/wrong-in.ts'

const hourMs = 3_600_000
let directory: string
let system: System

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-doctor-'))
  // Only files are examined.
  system = await findSystem(
    { state: undefined, operations: [] },
    {
      KAFKA_BROKERS: 'localhost:1',
      SCHEMA_REGISTRY_URL: 'http://localhost:1',
      DATABASE_URL: 'postgres://localhost:1/none',
      BODY_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
      SPOOL_MAX_BYTES: '1000',
    },
  )
})

afterAll(() => rm(directory, { recursive: true, force: true }))

test('a read-only spool, one that others can read, one that is never emptied', async () => {
  const at = (path: string): System => ({ ...system, config: { ...system.config, SPOOL_DIR: path } })
  expect(wrongIn(await examineSpool(at(join(directory, 'nowhere'))))[0]).toMatch(
    /^spool: \S+nowhere cannot be written: .*ENOENT/,
  )
  // Even root cannot create files there: a disk that refuses.
  expect(wrongIn(await examineSpool(at('/proc')))[0]).toMatch(/^spool: \/proc cannot be written: .*E/)
  const open = join(directory, 'open')
  await mkdir(join(open, 'gateway-1'), { recursive: true })
  await chmod(open, 0o755)
  expect((await examineSpool(at(open)))[0]).toMatchObject({ state: 'warning', check: 'spool' })
  await chmod(open, 0o700)
  const segment = join(open, 'gateway-1', '1.segment')
  await writeFile(segment, 'a record')
  await utimes(segment, new Date(), new Date(Date.now() - hourMs))
  expect((await examineSpool(at(open)))[1]).toMatchObject({
    state: 'warning',
    what: expect.stringMatching(/^1 segments of 0 MiB in \S+, the oldest 3[56]\d\d s old$/),
  })
  // An idle gateway keeps its last segment, with a note that all of it was sent.
  await writeFile(`${segment}.sent`, '8')
  expect((await examineSpool(at(open)))[1]).toMatchObject({
    state: 'ok',
    what: expect.stringMatching(/^1 segments of 0 MiB in \S+, all sent$/),
  })
  // Half sent; and a note that no gateway wrote, which counts as nothing sent.
  for (const note of ['7', 'torn']) {
    await writeFile(`${segment}.sent`, note)
    expect((await examineSpool(at(open)))[1]).toMatchObject({ state: 'warning' })
  }
})

test("examines a stack with the environment's keys and its generated secrets", async () => {
  const state = join(directory, 'state')
  await mkdir(state)
  const connection = {
    kafka_brokers: 'its:1',
    schema_registry_url: 'http://its',
    database_url: 'postgres://its',
  }
  await writeFile(join(state, 'connection.json'), JSON.stringify({ ...connection, operations: {} }))
  const keys = (id: string) => `${id}:${Buffer.alloc(32).toString('base64')}`
  const secrets = { BODY_ENCRYPTION_KEYS: keys('k1'), INTERNAL_API_SECRET: 'its' }
  await writeFile(join(state, 'secrets.json'), JSON.stringify(secrets))
  const given = { BODY_ENCRYPTION_KEYS: `${keys('k2')},${keys('k1')}`, DATABASE_URL: 'postgres://another' }
  const { environment } = await findSystem({ state, operations: [] }, given)
  expect(environment).toMatchObject({
    ...secrets,
    ...given,
    DATABASE_URL: 'postgres://its',
    KAFKA_BROKERS: 'its:1',
  })
})

test('secrets: a world-readable file, a missing one, a guessable secret', async () => {
  const file = join(directory, 'database-url')
  await writeFile(file, 'x')
  await chmod(file, 0o644)
  const wrong = await examineSecrets({
    ...system,
    environment: {
      DATABASE_URL_FILE: file,
      BODY_ENCRYPTION_KEYS_FILE: join(directory, 'none'),
      INTERNAL_API_SECRET: 'secret',
    },
  })
  expect(wrongIn(wrong)).toEqual([
    expect.stringMatching(/^secrets: BODY_ENCRYPTION_KEYS_FILE \(\S+\) cannot be read: .*ENOENT/),
    `secrets: DATABASE_URL_FILE (${file}) can be read by everybody on this host (mode 644)`,
    'secrets: INTERNAL_API_SECRET has 6 characters: anyone who guesses it sees every project',
  ])
})

test('certificates: valid, expiring within two weeks, expired, unreadable', async () => {
  const config: System['config'] = { ...system.config, KAFKA_SSL_CA: makeCertificate().cert }
  const at = async (days: number, changed = config) =>
    (
      await examineCertificates({ ...system, config: changed, now: () => Date.now() + days * 24 * hourMs })
    ).map(({ state, what }) => `${state}: ${what}`)
  expect(await at(-30)).toEqual([expect.stringMatching(/^ok: the first of KAFKA_SSL_CA ends at 2/)])
  expect(await at(0)).toEqual([expect.stringMatching(/^warning: the first of KAFKA_SSL_CA ends at 2/)])
  expect(await at(3)).toEqual([expect.stringMatching(/^problem: one of KAFKA_SSL_CA ended at 2/)])
  const broken = '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----'
  expect(await at(0, { ...config, KAFKA_SSL_CA: broken })).toEqual([
    expect.stringMatching(/^problem: KAFKA_SSL_CA cannot be read: /),
  ])
  expect(await examineCertificates(system)).toEqual([])
  const { config: named } = await findSystem(
    { state: undefined, operations: [] },
    { ...system.environment, WEBHOOK_CA: makeCertificate().cert },
  )
  expect(await at(3, named)).toEqual([expect.stringMatching(/^problem: one of WEBHOOK_CA ended at 2/)])
})
