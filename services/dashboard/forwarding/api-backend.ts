import { Pool, type Dispatcher } from 'undici'
import { z } from 'zod'
import { Problem } from '#http/problem.ts'

/** Enough for a hundred people waiting at once; further requests queue. */
const maxConnections = 128
/** Slightly above the API's maximum statement timeout. */
const headersTimeoutMs = 60_000

const problemSchema = z.object({ detail: z.string(), code: z.string() })

/** The person for whom the API is called. */
export interface OnBehalfOf {
  /** Their login's token; absent: nobody is signed in. */
  token?: string | undefined
  address: string | undefined
}

export interface ApiRequest {
  method: string
  /** Includes the query. */
  path: string
  headers?: Record<string, string>
  body?: Buffer | string
  signal?: AbortSignal
}

export interface ApiBackend {
  /** The API's raw answer. Throws Problem `API_UNAVAILABLE` if there is none. */
  send(request: ApiRequest, whom: OnBehalfOf): Promise<Dispatcher.ResponseData>
  /** The JSON of a successful answer; throws an error answer unchanged. */
  call<T>(method: 'GET' | 'POST', path: string, whom: OnBehalfOf, body?: object): Promise<T>
  close(): Promise<void>
}

/** The API's client, the only place that knows INTERNAL_API_SECRET. */
export function createApiBackend(options: { url: string; secret: string }): ApiBackend {
  const { origin, pathname } = new URL(options.url)
  const base = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, { connections: maxConnections, headersTimeout: headersTimeoutMs })
  const send: ApiBackend['send'] = async (
    { method, path, headers = {}, body, signal },
    { token, address },
  ) => {
    try {
      return await pool.request({
        method: method,
        path: base + path,
        headers: {
          ...headers,
          authorization: `Bearer ${options.secret}`,
          ...(token === undefined ? {} : { 'x-sluice-login': token }),
          ...(address === undefined ? {} : { 'x-sluice-client-address': address }),
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw unavailable(error)
    }
  }
  return {
    send,
    async call<T>(method: 'GET' | 'POST', path: string, whom: OnBehalfOf, body?: object) {
      const json =
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const answer = await send({ method, path, ...json }, whom)
      if (answer.statusCode >= 300) throw await problemOf(answer)
      return (answer.statusCode === 204 ? undefined : await readJson(answer)) as T
    },
    close: () => pool.destroy(),
  }
}

async function problemOf(answer: Dispatcher.ResponseData): Promise<Problem> {
  const problem = problemSchema.safeParse(await readJson(answer))
  if (!problem.success) return unavailable(problem.error)
  const retryAfter = answer.headers['retry-after']
  return new Problem(answer.statusCode, problem.data.code, problem.data.detail, {
    headers: typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {},
  })
}

/** Throws `API_UNAVAILABLE` if it is not JSON: a proxy answered for the API. */
async function readJson({ body }: Dispatcher.ResponseData): Promise<unknown> {
  try {
    return await body.json()
  } catch (error) {
    throw unavailable(error)
  }
}

function unavailable(cause: unknown): Problem {
  return new Problem(503, 'API_UNAVAILABLE', 'the API does not answer at the moment', {
    cause,
    headers: { 'retry-after': '5' },
  })
}
