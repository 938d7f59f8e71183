import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { whyFetchFailed } from '#infra/why-fetch-failed.ts'
import { internalSecret, parseConfig, type Environment } from '#runtime/config.ts'
import { baseUrl } from '#runtime/config-addresses.ts'
import type { Connection } from './connection.ts'
import { readWritten, statePaths } from './state-directory.ts'

export interface OperatorApi {
  baseUrl: string
  secret: string
}

const schema = z.object({
  PUBLIC_BASE_URL: baseUrl().optional(),
  INTERNAL_API_SECRET: internalSecret().optional(),
})

/** The API is down, or something else answers at its address: retrying can help. */
class ApiAway extends CannotStart {}

/**
 * The API of the environment (PUBLIC_BASE_URL, INTERNAL_API_SECRET), or of the running stack in `state`.
 * Throws CannotStart if there is neither.
 */
export async function findApi(state: string | undefined, environment: Environment): Promise<OperatorApi> {
  if (state === undefined) {
    const parsed = parseConfig(schema, environment)
    if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
    const { PUBLIC_BASE_URL, INTERNAL_API_SECRET: secret } = parsed.value
    if (PUBLIC_BASE_URL !== undefined && secret !== undefined) return { baseUrl: PUBLIC_BASE_URL, secret }
  }
  const { connection } = statePaths(resolve(state ?? '.sluice'))
  const found = await readWritten<Connection>(connection, 'PUBLIC_BASE_URL and INTERNAL_API_SECRET')
  return { baseUrl: found.base_url, secret: found.internal_api_secret }
}

/**
 * One request as the operator. Throws CannotStart if the API cannot be reached, or refuses, with its code and
 * detail.
 */
export async function callApi<T>(api: OperatorApi, method: string, path: string, body?: object): Promise<T> {
  const { status, text } = await requestApi(api, method, path, body)
  const answer = parse(text) as (T & { detail?: string; code?: string }) | undefined
  const isAway = status === 502 || status === 503 || status === 504
  const Refusal = isAway ? ApiAway : CannotStart
  if (answer === undefined)
    throw new Refusal(`${shown(api)} answered ${status} and no JSON: is that the API's address?`)
  if (status >= 400) throw new Refusal(`${answer.code ?? status}: ${answer.detail ?? 'no detail'}`)
  return answer
}

/** The same for any type of answer. Throws CannotStart if there is none. */
export async function requestApi(
  api: OperatorApi,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(api.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${api.secret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    throw new ApiAway(`the API at ${shown(api)} does not answer: ${whyFetchFailed(error)}`)
  }
}

const askEveryMs = 500
/** A restarting API is down for seconds. */
const awayForMs = 60_000

/**
 * Requests `path` until the API answers: ordered work continues while it is down. Throws like callApi, after
 * a minute.
 */
export async function retryRequest<T>(api: OperatorApi, path: string): Promise<T> {
  const deadlineMs = Date.now() + awayForMs
  for (;;) {
    try {
      return await callApi<T>(api, 'GET', path)
    } catch (error) {
      if (!(error instanceof ApiAway) || Date.now() > deadlineMs) throw error
    }
    await sleep(askEveryMs)
  }
}

/** The URL without credentials. */
function shown({ baseUrl }: OperatorApi): string {
  return new URL(baseUrl).origin
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
