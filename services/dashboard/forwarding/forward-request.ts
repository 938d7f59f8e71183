import { pipeline } from 'node:stream/promises'
import express, { type Request, type Response, type Router } from 'express'
import { clientAddress } from '../http/client-address.ts'
import { Problem } from '#http/problem.ts'
import type { LoginCookie } from '../sign-in/login-cookie.ts'
import type { ApiBackend } from './api-backend.ts'

const methods = new Set(['GET', 'POST', 'PATCH', 'DELETE'])
/** No route for people takes more (the API's default is 256 KiB). */
const maxBodyBytes = 256 * 1024
const passedOn = ['accept', 'content-type', 'if-none-match'] as const
const passedBack = ['content-type', 'content-disposition', 'etag', 'retry-after', 'allow'] as const

interface ForwardOptions {
  api: ApiBackend
  cookie: LoginCookie
}

/**
 * Forwards `/bff/api/…` to the API's `/api/…` for the signed-in person; the API authorizes. Nothing else of
 * the API is reachable, and only listed headers pass.
 */
export function createForward({ api, cookie }: ForwardOptions): Router {
  const router = express.Router()
  const readBody = express.raw({ type: () => true, limit: maxBodyBytes, inflate: false })
  router.use(
    '/bff/api',
    refuseUnknown,
    requireLogin(cookie),
    readBody,
    async (request: Request, response: Response) => {
      const left = new AbortController()
      response.once('close', () => left.abort())
      const body: unknown = request.body
      const answer = await api.send(
        {
          method: request.method,
          path: request.originalUrl.slice('/bff'.length),
          headers: pick(request.headers, passedOn),
          ...(Buffer.isBuffer(body) && body.length > 0 ? { body } : {}),
          signal: left.signal,
        },
        { token: cookie.read(request), address: clientAddress(request) },
      )
      response
        .status(answer.statusCode)
        .set(pick(answer.headers, passedBack))
        // Answers to one person must not stay on a shared disk.
        .set('cache-control', answer.headers['etag'] === undefined ? 'no-store' : 'private, no-cache')
      await passBody(answer.body, response)
    },
  )
  return router
}

/** Streams the body. A client that disconnects is not an error. */
async function passBody(body: NodeJS.ReadableStream, response: Response): Promise<void> {
  try {
    await pipeline(body, response)
  } catch (error) {
    if (!response.destroyed) throw error
  }
}

function refuseUnknown(request: Request, _response: Response, next: () => void): void {
  if (!methods.has(request.method)) {
    throw new Problem(405, 'METHOD_NOT_ALLOWED', `${request.method} is not known here`, {
      headers: { allow: [...methods].join(', ') },
    })
  }
  const [path = ''] = request.originalUrl.split('?', 1)
  if (!path.startsWith('/bff/api/') || hasDotSegment(path)) {
    throw new Problem(404, 'ROUTE_NOT_FOUND', 'there is nothing here')
  }
  next()
}

/**
 * True if a path segment is `.` or `..` in any encoding: the API must get exactly the path that was checked.
 * A lone encoded slash or backslash passes, since session ids may contain one.
 */
function hasDotSegment(path: string): boolean {
  const plain = path.replaceAll(/%2e/gi, '.').replaceAll(/%5c|%2f/gi, '/')
  return plain.split(/[\\/]/).some((part) => part === '.' || part === '..')
}

function requireLogin(cookie: LoginCookie) {
  return (request: Request, _response: Response, next: () => void): void => {
    if (cookie.read(request) === undefined) {
      throw new Problem(401, 'LOGIN_MISSING', 'you are not signed in')
    }
    next()
  }
}

function pick(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const pairs = names.map((name) => [name, headers[name]] as const)
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
}
