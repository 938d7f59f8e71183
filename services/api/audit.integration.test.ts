import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const entries = async (query: string) =>
  (await api.call('GET', `/api/audit?${query}`, { operator: true })).json['items'] as Record<
    string,
    unknown
  >[]

test('the audit log says who had an agent attacked, took calls with them, and signed out', async () => {
  const { projectId } = await api.createProject()
  const person = await signInPerson(api, 'admin', [])
  const target = { kind: 'chat', url: 'http://127.0.0.1:9/v1' }
  const order = { project_id: projectId, agent_name: 'bot', target, budget_usd: 2 }
  const { json } = await person.call('POST', '/api/redteam-runs', { body: order })
  const runId = String(json['id'])
  for (let time = 0; time < 2; time++) await person.call('POST', `/api/redteam-runs/${runId}/cancel`)
  await person.call('GET', `/api/requests/export?project_id=${projectId}`)
  await person.call('POST', '/api/me/sign-out')
  expect(
    (await entries(`person_id=${person.id}`)).map((entry) => [entry['action'], entry['subject']]),
  ).toEqual([
    ['person.signed_out', person.id],
    ['requests.exported', projectId],
    ['redteam_run.cancel', runId],
    ['redteam_run.ordered', runId],
    ['person.signed_in', person.id],
  ])
  const [ordered] = await entries('action=redteam_run.ordered')
  expect(ordered).toMatchObject({
    project_id: projectId,
    detail: { agent_name: 'bot', target: 'chat', url: target.url, budget_usd: 2, runner: 'worker' },
  })
})
