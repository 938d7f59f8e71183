import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { createTestDatabase } from '#tests/support/infrastructure.ts'
import { createThrottleStore, type Attempt, type ThrottleStore } from './login-throttle-store.ts'

let throttles: ThrottleStore
let stop: () => Promise<void>

beforeAll(async () => {
  const database = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  throttles = createThrottleStore(pool)
  stop = async () => {
    await pool.end()
    await database.drop()
  }
})
afterAll(() => stop())

const startMs = Date.parse('2026-11-22T08:00:00Z')
const hourMs = 3_600_000

/** Makes an attempt as soon as it is allowed; returns when that was. */
async function attempt(who: Attempt, fromMs: number): Promise<number> {
  const waitS = await throttles.take(who, fromMs)
  if (waitS === 0) return fromMs
  expect(await throttles.take(who, fromMs + waitS * 1_000)).toBe(0)
  return fromMs + waitS * 1_000
}

/** Failures of different users from one address; returns the time of the last. */
async function mistype(count: number, address: string): Promise<number> {
  let nowMs = startMs
  for (let n = 0; n < count; n++) nowMs = await attempt({ login: `${address}-${n}`, address }, nowMs)
  return nowMs
}

test('people of one place who know their passwords wait for nobody but those who do not', async () => {
  const address = '198.51.100.1'
  const office = (login: string) => ({ login, address })
  const nowMs = (await mistype(54, address)) + 900_000
  for (const login of ['ada', 'grace', 'ada', 'linus']) {
    expect([login, await throttles.take(office(login), nowMs)]).toEqual([login, 0])
    await throttles.clear(office(login))
  }
  // The failures are not forgotten: after 54 the next one starts a delay of 2^4 s.
  expect(await throttles.take(office('mallory'), nowMs)).toBe(0)
  expect(await throttles.take(office('ada'), nowMs)).toBe(16)
})

test('somebody whose password many places guess waits for none of their own successes', async () => {
  let nowMs = startMs
  for (let n = 0; n < 104; n++) nowMs = await attempt({ login: 'barbara', address: `203.0.113.${n}` }, nowMs)
  const own = { login: 'barbara', address: '198.51.100.2' }
  nowMs += 10_000
  for (let n = 0; n < 3; n++) {
    expect(await throttles.take(own, nowMs)).toBe(0)
    await throttles.clear(own)
  }
})

test('failures are forgotten in a day, though people come and go meanwhile', async () => {
  const address = '198.51.100.3'
  let nowMs = (await mistype(61, address)) + 900_000
  const colleague = { login: 'ada', address }
  for (let n = 0; n < 25 * 6; n++) {
    nowMs += hourMs / 6
    expect(await throttles.take(colleague, nowMs)).toBe(0)
    await throttles.clear(colleague)
  }
  for (let n = 0; n < 50; n++) expect(await throttles.take({ login: `b-${n}`, address }, nowMs)).toBe(0)
})

test('an attempt that came to nothing is none, and clears none that failed', async () => {
  const guess = { login: 'ada', address: '198.51.100.4' }
  for (let n = 0; n < 4; n++) expect(await throttles.take(guess, startMs)).toBe(0)
  expect(await throttles.take(guess, startMs)).toBe(0)
  await throttles.undo(guess)
  expect(await throttles.take(guess, startMs)).toBe(0)
  expect(await throttles.take(guess, startMs)).toBe(1)
})
