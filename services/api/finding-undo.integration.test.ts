import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { storeFailingCall } from '#tests/support/store-failing-call.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** A finding whose owner another analyst has replaced, and who undoes that. */
async function reassigned() {
  const { projectId, key } = await api.createProject()
  await storeFailingCall(api.pool, projectId, 'a')
  const { json } = await api.call('GET', '/api/findings', { key })
  const id = (json['items'] as { id: string }[])[0]?.id ?? ''
  const [before, after] = [
    await signInPerson(api, 'analyst', [projectId]),
    await signInPerson(api, 'analyst', [projectId]),
  ]
  const change = async (body: object) =>
    String((await after.call('PATCH', `/api/findings/${id}`, { body })).json['change_id'])
  await change({ owner: before.id })
  const changeId = await change({ owner: after.id, state: 'acknowledged' })
  const undo = async () => {
    const { json } = await after.call('POST', `/api/findings/changes/${changeId}/undo`, { body: {} })
    const { json: found } = await after.call('GET', `/api/findings/${id}`)
    const [last] = found['history'] as Record<string, unknown>[]
    return { answer: json, state: found['state'], owner: found['owner'], last }
  }
  return { id, projectId, before, after, change, undo }
}

test('undo restores an owner who still sees the project', async () => {
  const { id, before, after, undo } = await reassigned()
  const undone = await undo()
  expect(undone).toMatchObject({
    answer: { changed: [id], skipped: [], without_owner: [] },
    ...{ state: 'open', owner: { id: before.id, login: before.login } },
    last: { before: { owner: { id: after.id } }, after: { owner: { id: before.id } }, lost_owner: null },
  })
})

test.each<[string, (id: string) => Promise<unknown>]>([
  ['disabled', (id) => api.call('PATCH', `/api/people/${id}`, { operator: true, body: { disabled: true } })],
  [
    'removed from it',
    (id) => api.call('PATCH', `/api/people/${id}`, { operator: true, body: { project_ids: [] } }),
  ],
])('an owner who was %s since is not restored: the finding has none, and says so', async (_name, remove) => {
  const { id, before, after, undo } = await reassigned()
  await remove(before.id)
  expect(await undo()).toMatchObject({
    answer: { changed: [id], skipped: [], without_owner: [id] },
    ...{ state: 'open', owner: null },
    last: { before: { owner: { id: after.id } }, after: { owner: null }, lost_owner: before.login },
  })
})

test('undo leaves the owner whom the change left, also one who is disabled', async () => {
  const { id, before, after, change } = await reassigned()
  await change({ owner: before.id })
  const changeId = await change({ state: 'resolved' })
  await api.call('PATCH', `/api/people/${before.id}`, { operator: true, body: { disabled: true } })
  const { json } = await after.call('POST', `/api/findings/changes/${changeId}/undo`, { body: {} })
  expect(json).toMatchObject({ changed: [id], without_owner: [] })
  const { json: found } = await after.call('GET', `/api/findings/${id}`)
  expect(found).toMatchObject({ state: 'acknowledged', owner: { id: before.id } })
})

test('an analyst may choose among the active users who see the project', async () => {
  const [project, other] = [await api.createProject(), await api.createProject()]
  const [seer, viewer, gone, stranger] = [
    await signInPerson(api, 'analyst', [project.projectId]),
    await signInPerson(api, 'viewer', [project.projectId]),
    await signInPerson(api, 'analyst', [project.projectId]),
    await signInPerson(api, 'analyst', [other.projectId]),
  ]
  await api.call('PATCH', `/api/people/${gone.id}`, { operator: true, body: { disabled: true } })
  const { json } = await seer.call('GET', '/api/findings/owners')
  const listed = (json['owners'] as { id: string }[]).map(({ id }) => id)
  const expected = [seer, viewer, gone, stranger].map((person) => listed.includes(person.id))
  expect(expected).toEqual([true, true, false, false])
  expect((await viewer.call('GET', '/api/findings/owners')).status).toBe(403)
  const foreign = await seer.call('GET', `/api/findings/owners?project_id=${other.projectId}`)
  expect(foreign.status).toBe(403)
})

test('findings are chosen by an end user with a call of theirs, in their own project', async () => {
  const [mine, other] = [await api.createProject(), await api.createProject()]
  for (const agent of ['a', 'b']) await storeFailingCall(api.pool, mine.projectId, agent)
  await api.pool.query(`update llm_requests set user_id = 'eve' where project_id = $1 and agent_name = 'b'`, [
    idToUuid(mine.projectId),
  ])
  const agentsOf = async (user: string, key = mine.key) => {
    const { json } = await api.call('GET', `/api/findings?user_id=${user}`, { key })
    return (json['items'] as { agent_name: string }[]).map(({ agent_name }) => agent_name)
  }
  expect(await Promise.all([agentsOf('eve'), agentsOf('user-1'), agentsOf('eve', other.key)])).toEqual([
    ...[['b'], ['a'], []],
  ])
})
