import { callApi, type OperatorApi } from './operator-api.ts'
import { isSet } from './plan-services.ts'
import type { Environment } from '#runtime/config.ts'

/** How to sign in to the dashboard. */
export interface Administrator {
  login: string
  /** When it was made just now: it is told this once. */
  password: string | undefined
}

/** The administrator that a new stack begins with (DASHBOARD_ADMIN_LOGIN, DASHBOARD_ADMIN_PASSWORD), made where there is none yet. */
export async function ensureAdministrator(
  api: OperatorApi,
  environment: Environment,
): Promise<Administrator> {
  const { DASHBOARD_ADMIN_LOGIN: givenLogin, DASHBOARD_ADMIN_PASSWORD: password } = environment
  const login = isSet(givenLogin) ? givenLogin : 'admin'
  const body = { login, ...(isSet(password) ? { password } : {}) }
  const first = await callApi<{ password?: string }>(api, 'POST', '/internal/people/first', body)
  return { login, password: first.password }
}
