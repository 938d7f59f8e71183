import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeSecretFiles, type SecretFolders } from './secret-files.ts'

let place: string
let folders: SecretFolders

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'secret-files-'))
  folders = { services: join(place, 'secrets'), gateway: join(place, 'gateway') }
  await Promise.all([folders.services, folders.gateway].map((folder) => mkdir(folder)))
})

afterEach(() => rm(place, { recursive: true }))

const ofServices = (name: string) => readFile(join(folders.services, name), 'utf8')
const ofGateway = (name: string) => readFile(join(folders.gateway, name), 'utf8')

test('all are generated once, for their owner alone, and the gateway has its own only', async () => {
  await writeSecretFiles(folders, {})
  expect((await readdir(folders.gateway)).sort()).toEqual([
    'PROXY_API_KEY',
    'REDTEAM_MARK_SECRET',
    'SPOOL_KEY',
  ])
  const first = await ofServices('DATABASE_URL')
  expect(first).toBe(`postgres://sluice:${await ofServices('POSTGRES_PASSWORD')}@postgres:5432/sluice`)
  expect(await ofServices('REDTEAM_MARK_SECRET')).toBe(await ofGateway('REDTEAM_MARK_SECRET'))
  expect((await stat(join(folders.services, 'DATABASE_URL'))).mode & 0o777).toBe(0o600)
  // Compose passes an unset variable as empty.
  await writeSecretFiles(folders, { POSTGRES_PASSWORD: '', PROXY_API_KEY: '' })
  expect(await ofServices('DATABASE_URL')).toBe(first)
})

test('what is given goes before; the first password of Postgres stays, and keys come back when nobody gives others', async () => {
  await writeSecretFiles(folders, { POSTGRES_PASSWORD: 'a:b/c@d', PROXY_API_KEY: 'theirs' })
  expect(await ofServices('DATABASE_URL')).toBe('postgres://sluice:a%3Ab%2Fc%40d@postgres:5432/sluice')
  expect(await ofGateway('PROXY_API_KEY')).toBe('theirs')
  const keys = await ofServices('BODY_ENCRYPTION_KEYS')
  await writeSecretFiles(folders, { BODY_ENCRYPTION_KEYS: 'k2:other' })
  expect(await ofServices('BODY_ENCRYPTION_KEYS')).toBe('k2:other')
  expect(await ofServices('POSTGRES_PASSWORD')).toBe('a:b/c@d')
  expect(await ofGateway('PROXY_API_KEY')).not.toBe('theirs')
  await writeSecretFiles(folders, {})
  expect(await ofServices('BODY_ENCRYPTION_KEYS')).toBe(keys)
})
