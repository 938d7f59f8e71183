import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Connection } from './connection.ts'
import { statePaths } from './state-directory.ts'

export interface OperatorApi {
  baseUrl: string
  secret: string
}

/** The API of the environment (PUBLIC_BASE_URL, INTERNAL_API_SECRET), or of the running stack in `state`. Throws CannotStart when there is neither. */
export async function findApi(
  state: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<OperatorApi> {
  const { PUBLIC_BASE_URL: baseUrl, INTERNAL_API_SECRET: secret } = environment
  if (state === undefined && baseUrl !== undefined && secret !== undefined) return { baseUrl, secret }
  const { connection } = statePaths(resolve(state ?? '.sluice'))
  try {
    const found = JSON.parse(await readFile(connection, 'utf8')) as Connection
    return { baseUrl: found.base_url, secret: found.internal_api_secret }
  } catch (error) {
    throw new CannotStart(
      `cannot read ${connection} (${messageOf(error)}): name a running stack with --state, or set PUBLIC_BASE_URL and INTERNAL_API_SECRET`,
    )
  }
}

/** One request as the operator. Throws CannotStart with the API's code and detail when it refuses. */
export async function callApi<T>(
  { baseUrl, secret }: OperatorApi,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(new URL(path, baseUrl), {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T & { detail?: string; code?: string }
  if (!response.ok)
    throw new CannotStart(`${answer.code ?? response.status}: ${answer.detail ?? 'no detail'}`)
  return answer
}
