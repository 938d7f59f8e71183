import type { AnswerHead } from '#runtime/http1/answer-head.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import type { ForwardedBody } from '../traffic/request-body.ts'
import { createRenewed, type Fetched, type Renewed, type RenewedOptions } from './renewed.ts'

/** Credentials that the gateway sends instead of the application's. */
export interface UpstreamCredentials {
  /** The application's headers that they replace, in lower case; besides those that hold our key. */
  replaces: ReadonlySet<string>
  /** Whether they sign the body, which must then be in memory. */
  signsBody: boolean
  /** The headers to send with a request. Rejects with TokenUnavailable. */
  present(request: UnsignedRequest): Presented | Promise<Presented>
  /** Told of every answer that may refuse `credential`; returns whether it does and another may be had. */
  refused(credential: unknown, answer: Pick<AnswerHead, 'status' | 'headers'>): boolean
}

/** A request as the upstream gets it, but for credentials. */
export interface UnsignedRequest {
  method: string
  host: string
  /** Path and query. */
  target: string
  headers: readonly string[]
  body: ForwardedBody
}

export interface Presented {
  /** Names and values. */
  headers: readonly string[]
  /** What they were made from. */
  credential: object
}

export interface AccessToken {
  value: string
  lifetimeMs: number
}

/** A fixed key. */
export function fixedCredentials(header: { name: string; value: string }): UpstreamCredentials {
  const presented = { headers: [header.name, header.value], credential: header }
  return {
    replaces: new Set([header.name.toLowerCase()]),
    signsBody: false,
    present: () => presented,
    refused: () => false,
  }
}

interface TokenOptions extends Omit<RenewedOptions<object>, 'fetchNew'> {
  fetchToken: () => Promise<AccessToken>
  /** The application's headers that a token replaces, in lower case. */
  replaces: readonly string[]
}

/** Bearer tokens from an identity provider. */
export function tokenCredentials({ fetchToken, replaces, ...options }: TokenOptions): UpstreamCredentials {
  const tokens = createRenewed({
    ...options,
    fetchNew: async (): Promise<Fetched<readonly string[]>> => {
      const { value, lifetimeMs } = await fetchToken()
      if (!isHeaderValue(value)) throw new Error('the token contains characters that a header must not')
      return { value: ['Authorization', `Bearer ${value}`], lifetimeMs }
    },
  })
  return {
    replaces: new Set(replaces),
    signsBody: false,
    present: () => presentedBy(tokens, (headers) => headers),
    refused: (credential, { status }) => status === 401 && tokens.refused(credential),
  }
}

/** Headers made from credentials with an end; without a promise while they are valid. */
export function presentedBy<T extends object>(
  renewed: Renewed<T>,
  toHeaders: (credential: T) => readonly string[],
): Presented | Promise<Presented> {
  const present = (credential: T) => ({ headers: toHeaders(credential), credential })
  const given = renewed.get()
  return given instanceof Promise ? given.then(present) : present(given)
}
