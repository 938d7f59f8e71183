import { expect, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import { openErasures } from '../stores/erase-calls.ts'
import { all } from '../testing/erasing-fixture.ts'
import { sampleCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture()

test('an erasure that cannot go on keeps no other from it', async () => {
  const [stuckId, otherId] = [await world.fixture.addProject(), await world.fixture.addProject()]
  await world.fixture.store([sampleCall(stuckId), sampleCall(otherId)])
  const holder = await world.pool.connect()
  const impatient = new pg.Pool({ connectionString: world.database.url, max: 2, statement_timeout: 300 })
  try {
    await holder.query('begin')
    await holder.query('select from llm_requests where project_id = $1 for update', [idToUuid(stuckId)])
    const stuck = await world.fixture.erase(stuckId, 'project', '')
    await world.fixture.erase(otherId, 'project', '')
    const round = world.fixture.erasing(impatient)
    for (let made = 0; made < 3; made++) await round().catch(() => undefined)
    expect(await world.fixture.countsOf(otherId)).toEqual(all(0))
    await holder.query('rollback')
    await world.fixture.erased(stuck, '1')
  } finally {
    holder.release()
    await impatient.end()
  }
})

test('many erasures of one project keep none of another waiting', async () => {
  const [many, other] = [await world.fixture.addProject(), await world.fixture.addProject()]
  const first = await world.fixture.erase(many, 'user', 'u1')
  for (const user of ['u2', 'u3']) await world.fixture.erase(many, 'user', user)
  const late = await world.fixture.erase(other, 'user', 'u')
  expect(await openErasures(world.pool, 2)).toEqual([first, late])
})

test('however much refers to erased calls, it is deleted by the five thousand, and nothing else is', async () => {
  const projectId = await world.fixture.addProject()
  const [mine, kept] = [sampleCall(projectId), sampleCall(projectId)]
  await world.fixture.store([mine, kept])
  // Most of one moment, as a batch of the sink writes them.
  await world.pool.query(
    `insert into event_outbox (id, event, project_id, created_at, data, content_id)
     select gen_random_uuid(), 'threat_detected', $1, now() - make_interval(secs => number / 11000), '{}', case when number % 3 = 0 then $3 else $2 end
     from generate_series(1, 12000) number`,
    [idToUuid(projectId), mine.id, kept.id],
  )
  await world.pool.query(`
    create table deletions (count bigint not null);
    create function note_deletion() returns trigger language plpgsql as $$
      begin insert into deletions select count(*) from gone; return null; end $$;
    create trigger deletions after delete on event_outbox referencing old table as gone for each statement execute function note_deletion();
  `)
  await world.fixture.erased(await world.fixture.erase(projectId, 'request', idToUuid(mine.id)), '1')
  const left = await world.pool.query('select from event_outbox where project_id = $1 and content_id = $2', [
    idToUuid(projectId),
    mine.id,
  ])
  expect([left.rowCount, (await world.fixture.countsOf(projectId))['event_outbox']]).toEqual([0, 4_000])
  const { rows } = await world.pool.query<{ largest: number; all: number }>(
    'select max(count)::integer as largest, sum(count)::integer as all from deletions',
  )
  expect(rows[0]?.all).toBe(8_000)
  expect(rows[0]?.largest).toBeLessThanOrEqual(5_000)
})

test("a call whose maker's clock was ahead stays gone when it is sent again", async () => {
  const projectId = await world.fixture.addProject()
  const call = sampleCall(projectId, { id: newId('request', Date.now() + 1_800_000), user_id: 'u1' })
  await world.fixture.store([call])
  await world.fixture.erased(await world.fixture.erase(projectId, 'user', 'u1'), '1')
  await world.fixture.store([{ ...call, received_at: Date.now() + 60_000 }])
  expect(await world.fixture.countsOf(projectId)).toEqual(all(0))
})

test('erasing a project leaves what is reported of its later calls', async () => {
  const projectId = await world.fixture.addProject()
  await world.fixture.store([sampleCall(projectId)])
  const erasure = await world.fixture.erase(projectId, 'project', '')
  // What is stored in the millisecond of the request is erased too.
  await world.pool.query('select pg_sleep(0.002)')
  const laterMs = Date.now() + 5_000
  const later = sampleCall(projectId, { id: newId('request', laterMs), received_at: laterMs })
  await world.fixture.store([later])
  await world.fixture.score([later])
  await world.pool.query('update event_outbox set created_at = $2 where project_id = $1', [
    idToUuid(projectId),
    new Date(laterMs),
  ])
  await world.fixture.erased(erasure, '1')
  expect(await world.fixture.countsOf(projectId)).toMatchObject({
    llm_requests: 1,
    safety_scores: 1,
    event_outbox: 1,
  })
})

test('what one project erases takes nothing of what another has under that identifier', async () => {
  const [firstId, otherId] = [await world.fixture.addProject(), await world.fixture.addProject()]
  const [first, own] = [sampleCall(firstId), sampleCall(otherId, { user_id: 'u-other' })]
  const same = sampleCall(otherId, { id: first.id })
  await world.fixture.store([first, own, same])
  await world.fixture.score([first, own, same])
  await world.fixture.erased(await world.fixture.erase(firstId, 'request', idToUuid(first.id)), '1')
  // It looks at all that is reported of the project.
  await world.fixture.erased(await world.fixture.erase(otherId, 'user', 'u-other'), '1')
  expect(await world.fixture.countsOf(otherId)).toMatchObject({ llm_requests: 1, event_outbox: 1 })
})
