import express, { type Request, type Response, type Router } from 'express'
import { z } from 'zod'
import type { ApiBackend } from '../forwarding/api-backend.ts'
import { clientAddress } from '../http/client-address.ts'
import { Problem } from '#http/problem.ts'
import { validate } from '#http/validate.ts'
import type { LoginCookie } from './login-cookie.ts'

const maxBodyBytes = 4_096
const credentialsSchema = z.object({ name: z.string().min(1).max(200), password: z.string().min(1).max(200) })

interface SignInOptions {
  api: ApiBackend
  cookie: LoginCookie
  /** Label of the single sign-on button; undefined: none. */
  oidcLabel: string | undefined
  /** Of the gateway, for examples. */
  gatewayUrl: string
}

export interface Begun {
  token: string
  ends_at: string
}

/** Signing in and out by password, and `/bff/me`. */
export function createSignInRoutes({ api, cookie, oidcLabel, gatewayUrl }: SignInOptions): Router {
  const router = express.Router()
  const whom = (request: Request, token = cookie.read(request)) => ({
    token,
    address: clientAddress(request),
  })
  const me = async (request: Request, token?: string) => ({
    ...(await api.call<object>('GET', '/api/me', whom(request, token))),
    gateway_url: gatewayUrl,
  })

  router.get('/bff/login', (_request, response) => {
    response.json({ password: true, oidc: oidcLabel === undefined ? null : { label: oidcLabel } })
  })

  router.post(
    '/bff/login',
    express.json({ limit: maxBodyBytes }),
    async (request: Request, response: Response) => {
      const { name: login, password } = validate(credentialsSchema, request.body)
      const begun = await api.call<Begun>(
        'POST',
        '/internal/people/sign-in',
        { address: undefined },
        {
          login,
          password,
          ...browserOf(request),
        },
      )
      await endLogin(api, cookie, request)
      cookie.write(response, begun.token, begun.ends_at)
      response.json(await me(request, begun.token))
    },
  )

  router.post('/bff/logout', async (request: Request, response: Response) => {
    await endLogin(api, cookie, request)
    cookie.clear(response)
    response.status(204).end()
  })

  router.get('/bff/me', async (request: Request, response: Response) => {
    if (cookie.read(request) === undefined) throw new Problem(401, 'LOGIN_MISSING', 'you are not signed in')
    response.json(await me(request))
  })
  return router
}

/** What is recorded of the browser at sign-in. */
export function browserOf(request: Request): { address: string | null; user_agent: string | null } {
  const agent = request.headers['user-agent']?.slice(0, 300)
  return {
    address: clientAddress(request) ?? null,
    user_agent: agent === undefined || agent === '' ? null : agent,
  }
}

/** Ends the browser's current login, so that signing in again leaves no orphan that nobody can end. */
export async function endLogin(api: ApiBackend, cookie: LoginCookie, request: Request): Promise<void> {
  const token = cookie.read(request)
  if (token === undefined) return
  try {
    await api.call('POST', '/api/me/sign-out', { token, address: clientAddress(request) })
  } catch (error) {
    // It had already ended.
    if (!(error instanceof Problem) || error.status !== 401) throw error
  }
}
