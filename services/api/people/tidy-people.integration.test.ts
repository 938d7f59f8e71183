import { expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { newId } from '#schemas/ids.ts'
import { createTestDatabase } from '#tests/support/infrastructure.ts'
import { writeAudit } from '../stores/audit-store.ts'
import { createThrottleStore } from '../stores/login-throttle-store.ts'
import { beginLogin } from '../stores/login-store.ts'
import { insertPerson } from '../stores/people-store.ts'
import { createTidyPeople } from './tidy-people.ts'

const hourMs = 3_600_000

test('what is over is deleted, what is not stays', async () => {
  const database = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const client = await pool.connect()
  const limits = { idleMs: hourMs, maxMs: 10 * hourMs }
  const startedAt = Date.now() - 50 * hourMs
  let nowMs = startedAt
  const throttles = createThrottleStore(pool)
  const clock = { ...systemClock, now: () => nowMs }
  const people = createTidyPeople({
    pool,
    throttles,
    limits,
    auditMs: 48 * hourMs,
    clock,
    log: createLog('test', 'silent'),
  })
  const id = newId('person')
  const person = {
    id,
    login: 'ada',
    name: 'Ada',
    role: 'viewer',
    projectIds: [],
    passwordHash: null,
  } as const
  await insertPerson(client, person, nowMs)
  const happen = async () => {
    await beginLogin(client, { personId: id }, { address: null, userAgent: null }, limits, nowMs)
    await throttles.take({ login: 'ada', address: '198.51.100.1' }, nowMs)
    await writeAudit(
      client,
      { kind: 'operator' },
      { action: 'test.done', subject: null, projectId: null },
      nowMs,
    )
  }
  const left = async () => {
    await people.tidy()
    const { rows } = await client.query<{ counts: number[] }>(
      `select array[(select count(*) from logins), (select count(*) from login_throttles), (select count(*) from audit_log)]::int[] as counts`,
    )
    return rows[0]?.counts
  }
  await happen()
  expect(await left()).toEqual([1, 3, 1])
  nowMs = startedAt + 2 * hourMs
  expect(await left()).toEqual([0, 3, 1])
  nowMs = startedAt + 25 * hourMs
  await happen()
  expect(await left()).toEqual([1, 3, 2])
  nowMs = startedAt + 50 * hourMs
  expect(await left()).toEqual([0, 0, 1])
  nowMs = startedAt + 87_600 * hourMs
  expect(await left()).toEqual([0, 0, 1])
  client.release()
  await pool.end()
  await database.drop()
})
