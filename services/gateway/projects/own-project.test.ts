import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { CredentialRefused, type AskProject } from './ask-project.ts'
import { createOwnProject } from './own-project.ts'

const settings = { projectId: 'prj_1', tier: 'enterprise', isEphemeral: false } as const
let directory: string
let nowMs: number

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-own-'))
  nowMs = 0
})
afterEach(() => rm(directory, { recursive: true }))

async function startWith(ask: AskProject) {
  const own = createOwnProject({
    ask,
    directory,
    key: 'k',
    now: () => nowMs,
    log: createLog('gateway-test', 'silent'),
  })
  await own.start()
  own.stop()
  return own
}

test('what it was told before a start holds for an hour while the API service is away', async () => {
  await startWith(() => Promise.resolve(settings))
  const own = await startWith(() => Promise.reject(new Error('away')))
  expect([own.settings(), own.problem()]).toEqual([settings, null])
  nowMs = 3_600_000
  expect([own.settings(), own.problem()]).toEqual([settings, 'away'])
})

test.each([
  ['refuses the key', () => Promise.reject(new CredentialRefused('refused')), 'refused'],
  ['knows no project of the key', () => Promise.resolve(null), 'the key is of no project'],
])('an API service that %s is a problem at once', async (_name, ask, problem) => {
  await startWith(() => Promise.resolve(settings))
  const own = await startWith(ask)
  expect([own.settings(), own.problem()]).toEqual([settings, problem])
})
