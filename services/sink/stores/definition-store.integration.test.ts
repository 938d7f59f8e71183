import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { placeSample, sampleCall } from '../testing/sample-records.ts'
import { useCallDatabase } from '../testing/use-call-database.ts'
import { createCallStore } from './call-store.ts'
import { createRollupStore } from './rollup-store.ts'

const { pool, addProject } = useCallDatabase()
let offset = 0

const start = Date.now()
/** A list of tools that came so many seconds after the start. */
function listed(projectId: string, second: number, hashes: Record<string, string>, server = 'gates') {
  const definitions = Object.entries(hashes).map(([tool, hash]) => ({ server, tool, hash }))
  return sampleCall(projectId, {
    id: newId('request', start + second * 1_000),
    tool_definitions: definitions,
  })
}

async function store(...calls: ReturnType<typeof sampleCall>[]): Promise<number> {
  const placed = calls.map((call) => placeSample(call, offset++))
  const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt(offset) }
  const { eventCount } = await createCallStore(pool(), createRollupStore()).store(placed, position, 'kept')
  return eventCount
}

/** Server, tool, definition before and after of each event, in order. */
async function changesOf(projectId: string) {
  const { rows } = await pool().query<{ data: Buffer }>(
    `select data from event_outbox where project_id = $1 and event = 'tool_definition_changed' order by seq`,
    [idToUuid(projectId)],
  )
  return rows.map(({ data }) => {
    const its = JSON.parse(data.toString()) as Record<string, string>
    return [its['server'], its['tool_name'], its['previous_hash'], its['definition_hash']]
  })
}

test('a definition raises an event when it differs from the last one of its server and tool', async () => {
  const [projectId, otherId] = [await addProject(), await addProject()]
  expect(
    await store(listed(projectId, 0, { read: 'a', write: 'x' }), listed(otherId, 0, { read: 'b' })),
  ).toBe(0)
  expect(await store(listed(projectId, 1, { read: 'a' }))).toBe(0)
  expect(await store(listed(projectId, 2, { read: 'b', write: 'x' }))).toBe(1)
  expect(await store(listed(projectId, 3, { read: 'c' }, 'another'))).toBe(0)
  expect(await changesOf(projectId)).toEqual([['gates', 'read', 'a', 'b']])
  expect(await changesOf(otherId)).toEqual([])
})

test('changes of one batch raise an event each, in the order of their calls', async () => {
  const projectId = await addProject()
  const back = listed(projectId, 2, { read: 'a' })
  expect(await store(back, listed(projectId, 0, { read: 'a' }), listed(projectId, 1, { read: 'b' }))).toBe(2)
  expect(await changesOf(projectId)).toEqual([
    ['gates', 'read', 'a', 'b'],
    ['gates', 'read', 'b', 'a'],
  ])
})

test('an older list that comes late, and one that comes again, change nothing', async () => {
  const projectId = await addProject()
  const newer = listed(projectId, 5, { read: 'b' })
  expect(await store(newer)).toBe(0)
  expect(await store(listed(projectId, 4, { read: 'a' }))).toBe(0)
  expect(await store(newer)).toBe(0)
  expect(await store(listed(projectId, 6, { read: 'b' }))).toBe(0)
  expect(await changesOf(projectId)).toEqual([])
})

test('definitions beyond ten thousand of a project are not remembered', async () => {
  const projectId = await addProject()
  await pool().query(
    `insert into tool_definitions select $1, 'gates', 'known ' || number, 'a', $2 from generate_series(1, 10000) number`,
    [idToUuid(projectId), new Date(start)],
  )
  expect(await store(listed(projectId, 1, { read: 'a', 'known 1': 'b' }))).toBe(1)
  expect(await store(listed(projectId, 2, { read: 'b' }))).toBe(0)
  expect(await changesOf(projectId)).toEqual([['gates', 'known 1', 'a', 'b']])
})
