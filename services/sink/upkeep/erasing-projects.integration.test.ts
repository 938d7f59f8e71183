import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { clientsAheadMs } from '#capture/record/read-bodies.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { dayTableOf, rollupTables } from '../stores/rollup-tables.ts'
import { addWebhook } from '../testing/add-webhook.ts'
import { all } from '../testing/erasing-fixture.ts'
import { foldAll } from '../testing/fold-all.ts'
import { many, sampleCall } from '../testing/sample-records.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture([-2, -1, 0, 1])

test('a whole project is erased with its roll-ups and tool names; its settings stay', async () => {
  const projectId = await world.fixture.addProject()
  const webhookId = await addWebhook(world.pool, projectId)
  const days = [0, 1, 2]
  const calls = many(30, (index) =>
    sampleCall(projectId, {
      id: newId('request', Date.now() - (days[index % 3] ?? 0) * 86_400_000),
      tool_names: ['search'],
      tool_name: 'search',
      tool_definitions: [{ server: 'files', tool: 'search', hash: 'a' }],
    }),
  )
  await world.fixture.store(calls)
  await world.fixture.score(calls)
  await world.fixture.fanOut(calls, webhookId)
  await foldAll(world.pool, 60)
  const rollups = rollupTables.flatMap((table) => [table.name, dayTableOf(table)])
  const traced = [...rollups, 'seen_tools', 'tool_definitions']
  const tracesOf = async () => {
    const rowsOf = (table: string) =>
      world.pool.query(`select from ${table} where project_id = $1`, [idToUuid(projectId)])
    return Promise.all(traced.map(async (table) => [table, (await rowsOf(table)).rowCount]))
  }
  expect((await tracesOf()).filter(([, rows]) => rows === 0)).toEqual([])
  const erasure = await world.fixture.erase(projectId, 'project', '')
  await world.fixture.erased(erasure, '30')
  expect(await world.fixture.countsOf(projectId)).toEqual(all(0))
  expect(await tracesOf()).toEqual(traced.map((table) => [table, 0]))
  expect(
    (await world.pool.query('select from webhooks where project_id = $1', [idToUuid(projectId)])).rowCount,
  ).toBe(1)
})

/**
 * What is left of a project besides calls: its roll-ups with their hour or day, and the names of its tools.
 */
async function countsLeft(projectId: string): Promise<unknown[]> {
  const tables = rollupTables.flatMap((table) => [table.name, dayTableOf(table)])
  const left = tables.map(
    (table) => `select '${table}' as what, hour::text as of from ${table} where project_id = $1`,
  )
  const { rows } = await world.pool.query<object>(
    `${left.join(' union all ')} union all select 'tool', tool_name from seen_tools where project_id = $1`,
    [idToUuid(projectId)],
  )
  return rows
}

test('calls whose identifiers lie ahead of the clock are erased with what counts them, and with the names of their tools', async () => {
  const projectId = await world.fixture.addProject()
  const nowMs = Date.now()
  const aheadMs = [0, 60 * 60_000, clientsAheadMs - 60_000]
  const calls = aheadMs.map((ms, index) =>
    sampleCall(projectId, { id: newId('request', nowMs + ms), tool_names: [`tool-${index}`] }),
  )
  await world.fixture.store(calls)
  await world.fixture.score(calls)
  await sleep(5)
  await world.fixture.erased(await world.fixture.erase(projectId, 'project', ''), '3')
  expect(await countsLeft(projectId)).toEqual([])
})

test('of hours ahead, those in which calls since were made stay counted, with the tools that these name', async () => {
  const projectId = await world.fixture.addProject()
  const hourMs = 3_600_000
  // The erasure is asked for before the hour that is ahead begins.
  while (hourMs - (Date.now() % hourMs) < 10_000) await sleep(1_000)
  const nextHourMs = (Math.floor(Date.now() / hourMs) + 1) * hourMs
  const made = (atMs: number, tool: string) =>
    sampleCall(projectId, { id: newId('request', atMs), received_at: nextHourMs + 1, tool_names: [tool] })
  await world.fixture.store([made(nextHourMs, 'before'), made(nextHourMs + hourMs, 'gone')])
  await sleep(5)
  const erasure = await world.fixture.erase(projectId, 'project', '')
  await sleep(5)
  const since = made(nextHourMs + 1, 'since')
  expect((await world.fixture.store([since])).dispositions).toEqual(['stored'])
  await world.fixture.erased(erasure, '2')
  const hour = new Date(nextHourMs).toISOString().replace('T', ' ').replace('.000Z', '+00')
  expect((await countsLeft(projectId)).toSorted()).toEqual([
    { what: 'call_rollups', of: hour },
    // What was counted of erased calls in an hour that stays cannot be subtracted, names included.
    { what: 'tool_rollups', of: hour },
    { what: 'tool_rollups', of: hour },
    { what: 'user_rollups', of: hour },
    { what: 'tool', of: 'before' },
    { what: 'tool', of: 'since' },
  ])
})

test('what is counted of calls after the erasure of their project stays counted', async () => {
  const projectId = await world.fixture.addProject()
  await world.fixture.store([sampleCall(projectId, { tool_names: ['search'] })])
  const erasure = await world.fixture.erase(projectId, 'project', '')
  // Times are kept by the millisecond: what is stored within the erasure's goes with it.
  await sleep(5)
  const laterMs = Date.now() + 5_000
  const later = sampleCall(projectId, { id: newId('request', laterMs), received_at: laterMs })
  await world.fixture.store([later])
  await world.fixture.erased(erasure, '1')
  const { rows } = await world.pool.query<{ calls: number }>(
    `select sum(calls)::integer as calls from call_rollups where project_id = $1 and hour = date_trunc('hour', $2::timestamptz, 'UTC')`,
    [idToUuid(projectId), new Date(laterMs)],
  )
  expect(rows[0]?.calls).toBeGreaterThanOrEqual(1)
})
