import { expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createFindingFixture } from '../testing/finding-fixture.ts'
import { useErasingFixture } from '../testing/use-erasing-fixture.ts'

const world = useErasingFixture()
const { storedCalls, score, keptOf } = createFindingFixture(world)
const found = (index: number) => ({
  found_values: [{ kind: 'phone_number', tool: null, hash: Buffer.alloc(16, index) }],
})

/** The calls that the rows of a table name as first and as last: by their places among `calls`. */
async function namedIn(table: string, order: string, calls: readonly LoggedCall[]) {
  const { rows } = await world.pool.query<{ first: string; last: string }>(
    `select first_request_id as first, last_request_id as last from ${table} where project_id = $1 order by ${order}`,
    [idToUuid(calls[0]?.project_id ?? '')],
  )
  const placeOf = (uuid: string) => calls.findIndex(({ id }) => idToUuid(id) === uuid)
  return rows.map(({ first, last }) => [placeOf(first), placeOf(last)])
}

const erase = async ({ id, project_id: projectId }: LoggedCall, calls: string) =>
  world.fixture.erased(await world.fixture.erase(projectId, 'request', idToUuid(id)), calls)

test('no counter and no value names an erased call, and later calls do not become the first', async () => {
  const calls = (await storedCalls(5)) as [LoggedCall, LoggedCall, LoggedCall, LoggedCall, LoggedCall]
  const [one, two, three, four, five] = calls
  for (const call of [one, two, three]) await score(call, found(1))
  await score(four, { found_values: [{ kind: 'email', tool: null, hash: Buffer.alloc(16, 2) }] })
  const named = async () => [
    await namedIn('finding_counters', 'count', calls),
    await namedIn('finding_values', 'hash desc', calls),
  ]
  const [ofEmail, ofPhone] = [
    [3, 3],
    [0, 2],
  ]
  expect(await named()).toEqual([
    [ofEmail, ofPhone],
    [ofEmail, ofPhone],
  ])
  await erase(one, '1')
  await erase(four, '1')
  // The value of the erased call is gone.
  const erased = [-1, -1]
  expect(await named()).toEqual([[erased, [-1, 2]], [[-1, 2]]])
  await score(five, found(1))
  expect(await named()).toEqual([[erased, [-1, 4]], [[-1, 4]]])
  await erase(five, '1')
  expect(await named()).toEqual([[erased, [-1, 2]], [[-1, 2]]])
  await erase(two, '1')
  expect(await keptOf(one.project_id)).toMatchObject([
    { kind: 'email', count: 1, live: 0, values: 0 },
    { kind: 'phone_number', count: 4, live: 1, values: 1 },
  ])
})

test('the name of a call goes also when the call itself was gone before it was erased', async () => {
  const calls = (await storedCalls(2)) as [LoggedCall, LoggedCall]
  const [one, two] = calls
  await score(one, found(1))
  await score(two, found(1))
  await world.pool.query('delete from llm_requests where project_id = $1 and id = $2', [
    idToUuid(one.project_id),
    idToUuid(one.id),
  ])
  await erase(one, '0')
  expect(await namedIn('finding_counters', 'lane', calls)).toEqual([[-1, 1]])
  expect(await namedIn('finding_values', 'hash', calls)).toEqual([[-1, 1]])
})
