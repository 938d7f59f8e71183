import type { Answer, CallOptions, RunningApi } from './start-api.ts'

/** A signed-in user, acting as the dashboard would. */
export interface TestPerson {
  id: string
  login: string
  password: string
  token: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

let made = 0

/** Creates and signs in a user with this role and these projects. */
export async function signInPerson(
  api: RunningApi,
  role: string,
  projectIds: readonly string[] = [],
): Promise<TestPerson> {
  const login = `${role}-${++made}`
  const password = `the password of ${login}`
  const body = { login, name: login, role, project_ids: projectIds, password }
  const created = await api.call('POST', '/api/people', { operator: true, body })
  const token = await signIn(api, login, password)
  const call: TestPerson['call'] = (method, path, options = {}) =>
    api.call(method, path, {
      ...options,
      operator: true,
      headers: { ...options.headers, 'x-sluice-login': token, 'x-sluice-client-address': '203.0.113.7' },
    })
  return { id: String(created.json['id']), login, password, token, call }
}

/** The token of a new session. */
async function signIn(api: RunningApi, login: string, password: string): Promise<string> {
  const body = { login, password }
  const answer = await api.call('POST', '/internal/people/sign-in', { operator: true, body })
  if (answer.status !== 201) throw new Error(`not signed in: ${answer.text}`)
  return String(answer.json['token'])
}
