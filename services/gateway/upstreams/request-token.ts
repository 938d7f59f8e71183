import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import type { AccessToken } from './upstream-credentials.ts'

export interface ClientCredentials {
  url: string
  clientId: string
  clientSecret: string
  scope: string | undefined
}

const tokenSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().default(300),
})
const maxTokenSeconds = 86_400

/** OAuth 2 client credentials grant. */
export function fetchClientCredentialsToken(
  { url, clientId, clientSecret, scope }: ClientCredentials,
  dispatcher: Dispatcher,
): Promise<AccessToken> {
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    ...(scope === undefined ? {} : { scope }),
  }
  return requestToken(url, form, dispatcher)
}

/** Asks a token endpoint. */
export async function requestToken(
  url: string,
  form: Readonly<Record<string, string>>,
  dispatcher: Dispatcher,
): Promise<AccessToken> {
  const { statusCode, body } = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
  })
  return readToken(statusCode, body)
}

/** The token of an answer. */
export async function readToken(status: number, body: Dispatcher.ResponseData['body']): Promise<AccessToken> {
  if (status !== 200) {
    await body.dump()
    throw new Error(`the identity provider answered ${status}`)
  }
  const token = tokenSchema.safeParse(await body.json())
  // The answer may contain a secret: do not quote it.
  if (!token.success) throw new Error('the answer of the identity provider contains no bearer token')
  const { access_token: value, expires_in: seconds } = token.data
  return { value, lifetimeMs: Math.min(seconds, maxTokenSeconds) * 1_000 }
}
