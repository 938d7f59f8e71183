import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { until } from '#tests/support/until.ts'
import { CredentialRefused, type AskProject } from './ask-project.ts'
import { createOwnProject, type OwnProject } from './own-project.ts'

const settings = { projectId: 'prj_1', tier: 'enterprise', isEphemeral: false } as const
const minuteMs = 60_000
let directory: string
let nowMs: number
let started: OwnProject[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-own-'))
  nowMs = Date.now()
  started = []
})
afterEach(async () => {
  stopAll()
  // The last answer may still be on its way to the disk.
  await rm(directory, { recursive: true, maxRetries: 10 })
})

function stopAll() {
  for (const own of started.splice(0)) own.stop()
}

const says: AskProject = () => Promise.resolve(settings)
const isAway: AskProject = () => Promise.reject(new Error('away'))
const refuses: AskProject = () => Promise.reject(new CredentialRefused('refused'))

async function start(ask: AskProject) {
  const log = createLog('gateway-test', 'silent')
  const own = createOwnProject({ ask, directory, key: 'k', now: () => nowMs, log })
  started.push(own)
  await own.start()
  return own
}

async function startAgain(ask: AskProject) {
  stopAll()
  return start(ask)
}

/** The answers to the start and to later requests. */
async function startAndAsk(...answers: AskProject[]) {
  jest.useFakeTimers({ doNotFake: ['Date', 'setImmediate', 'nextTick', 'queueMicrotask', 'performance'] })
  try {
    const ask = jest.fn<AskProject>()
    for (const answer of answers) ask.mockImplementationOnce(answer)
    const own = await start(ask)
    while (ask.mock.calls.length < answers.length) await jest.advanceTimersByTimeAsync(5_000)
    return own
  } finally {
    jest.useRealTimers()
  }
}

const remembered = () => readFile(join(directory, 'project.json'), 'utf8')

test('what it was told before a start holds for an hour from then while the API service is away, however often it starts', async () => {
  await start(says)
  for (let again = 0; again < 2; again++) {
    nowMs += 29 * minuteMs
    const own = await startAgain(isAway)
    expect([own.settings(), own.problem()]).toEqual([settings, null])
  }
  nowMs += 2 * minuteMs
  const own = await startAgain(isAway)
  expect([own.settings(), own.problem()]).toEqual([settings, 'away'])
  expect((await startAgain(says)).problem()).toBeNull()
})

test('the hour begins with the last answer, though it said nothing new', async () => {
  await startAndAsk(says, () => {
    nowMs += 40 * minuteMs
    return says()
  })
  await until(async () => (await remembered()).includes(`${nowMs}`))
  nowMs += 40 * minuteMs
  expect((await startAgain(isAway)).problem()).toBeNull()
})

test.each([
  ['refuses the key', refuses, 'refused'],
  ['knows no project of the key', () => Promise.resolve(null), 'the key belongs to no project'],
])('an API service that %s is a problem until it takes the key', async (_name, ask, problem) => {
  await start(says)
  const own = await startAgain(ask)
  expect([own.settings(), own.problem()]).toEqual([settings, problem])
  expect((await startAgain(isAway)).problem()).toBe('away')
  expect((await startAgain(says)).problem()).toBeNull()
})

test('a key that was refused stays so when the API service does not answer', async () => {
  const own = await startAndAsk(says, refuses, isAway)
  expect([own.settings(), own.problem()]).toEqual([settings, 'away'])
})

test('settings that an earlier version remembered, which kept no time, publish nothing until they are confirmed', async () => {
  const project = { project_id: 'prj_1', tier: 'enterprise', zero_content_retention: false }
  const text = JSON.stringify({ key_sha256: hash('sha256', 'k', 'hex'), project })
  await writeFile(join(directory, 'project.json'), text)
  const own = await start(isAway)
  expect([own.settings(), own.problem()]).toEqual([settings, 'away'])
})

test.each([
  ['forwards, as after a pause of the whole machine', 60],
  ['backwards', -60],
])('a clock that goes an hour %s leaves them unconfirmed until the next answer', async (_way, minutes) => {
  const own = await start(says)
  nowMs += minutes * minuteMs
  expect([own.settings(), own.problem()]).toEqual([settings, expect.stringContaining('confirmed')])
})

test('a disk that hangs holds up no question', async () => {
  const hanging = join(directory, `project.json.${process.pid}`)
  const own = await startAndAsk(
    says,
    () => {
      nowMs++
      // Opening it blocks until there is a reader.
      execFileSync('mkfifo', [hanging])
      return says()
    },
    refuses,
  )
  expect(own.problem()).toBe('refused')
  await readFile(hanging)
})
