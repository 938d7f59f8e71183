import { callApi, type OperatorApi } from './operator-api.ts'
import { isSet } from './plan-services.ts'
import type { Environment } from '#runtime/config.ts'

/** How to sign in to the dashboard. */
export interface Administrator {
  login: string
  /** Only if created just now: it is printed once. */
  password: string | undefined
}

/** The first administrator (DASHBOARD_ADMIN_LOGIN, DASHBOARD_ADMIN_PASSWORD), created if there is none. */
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
