import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { settleRun, type SettleDependencies } from './settle-run.ts'
import { setSinkFixture, type SinkFixture } from '../testing/sink-fixture.ts'

jest.setTimeout(300_000)

let fixture: SinkFixture
beforeAll(async () => {
  fixture = await setSinkFixture()
})
afterAll(() => fixture.close())

const settle = (uuid: string, findAwaited: SettleDependencies['findAwaited']) =>
  settleRun({ pool: fixture.pool, findAwaited, clock: systemClock, log: createLog('test', 'silent') }, uuid)

const columns = 'status, calls_scored, problem, awaited'

async function orderRun(): Promise<string> {
  const uuid = idToUuid(newId('run'))
  await fixture.pool.query(
    `insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, calls_fed, created_at)
     values ($1, $2, now() - interval '1 hour', now(), 'postgres', false, 'scoring', 3, 3, now())`,
    [uuid, idToUuid(await fixture.addProject())],
  )
  return uuid
}

const jobs = (end: string) => ({ topic: 'jobs', ends: { 0: end } })

test.each([
  ['asked too', `update score_runs set awaited = '{"topic": "jobs", "ends": {"0": "5"}}' where id = $1`],
  ['cancelled it', `update score_runs set status = 'cancelled', awaited = null where id = $1`],
  ['counted its scores', `update score_runs set calls_scored = 1 where id = $1`],
  ['erased its project', `delete from score_runs where id = $1`],
])(
  'Kafka may take for ever to answer: nobody waits for the run, and what another has done stands who %s',
  async (_name, change) => {
    const uuid = await orderRun()
    const asked = Promise.withResolvers<undefined>()
    const answer = Promise.withResolvers<undefined>()
    const settled = settle(uuid, () => (asked.resolve(undefined), answer.promise))
    const read = async (): Promise<unknown> =>
      (await fixture.pool.query(`select ${columns} from score_runs where id = $1`, [uuid])).rows
    await asked.promise
    let changed: unknown
    try {
      await fixture.pool.query(`select from score_runs where id = $1 for update nowait`, [uuid])
      await fixture.pool.query(change, [uuid])
      changed = await read()
    } finally {
      answer.resolve(undefined)
    }
    expect(await settled).toBe(false)
    expect(await read()).toEqual(changed)
  },
)

test('what is awaited is kept for anyone who asks next, and once nothing is the run is done', async () => {
  const uuid = await orderRun()
  const asked: unknown[] = []
  const answers = [jobs('5'), jobs('5'), undefined]
  const look = () => settle(uuid, (awaited) => (asked.push(awaited), Promise.resolve(answers.shift())))
  expect([await look(), await look(), await look(), await look()]).toEqual([false, false, true, false])
  expect(asked).toEqual([null, jobs('5'), jobs('5')])
  const { rows } = await fixture.pool.query(`select ${columns} from score_runs where id = $1`, [uuid])
  expect(rows).toMatchObject([{ status: 'done', problem: expect.stringMatching(/^3 jobs brought no score/) }])
})
