import { COMPATIBILITY } from '@kafkajs/confluent-schema-registry'
import { TransientError } from '#runtime/errors.ts'
import { fetchRegistry, registryAddress } from '#runtime/kafka/registry-address.ts'
import { CannotStart } from './embedded/embedded-part.ts'
import { whyFetchFailed } from './why-fetch-failed.ts'

const timeoutMs = 10_000

/** Compatibility level of every subject: a reader with the newest schema can read everything ever written. */
export const readersLevel = COMPATIBILITY.BACKWARD_TRANSITIVE

/** The subject's own level; undefined: none. */
export async function readLevel(url: string, subject: string): Promise<COMPATIBILITY | undefined> {
  const answer = await askRegistry<{ compatibilityLevel?: COMPATIBILITY }>(url, levelPath(subject))
  return answer?.compatibilityLevel
}

export async function setLevel(url: string, subject: string): Promise<void> {
  await askRegistry(url, levelPath(subject), { method: 'PUT', body: { compatibility: readersLevel } })
}

const levelPath = (subject: string) => `/config/${encodeURIComponent(subject)}`

/**
 * The registry's answer; undefined: not found. Throws TransientError if it is down, CannotStart if it
 * refuses.
 */
export async function askRegistry<T>(
  url: string,
  path: string,
  { method, body }: { method?: 'POST' | 'PUT'; body?: object } = {},
): Promise<T | undefined> {
  const asked = await fetchRegistry(url, path, {
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined
      ? {}
      : {
          method: method ?? 'POST',
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        }),
  }).catch((cause: unknown) => {
    const message = `the schema registry at ${registryAddress(url).host} does not answer: ${whyFetchFailed(cause)}`
    throw new TransientError('REGISTRY_UNAVAILABLE', message, { cause })
  })
  const answer = await asked.text()
  if (asked.status === 404) return undefined
  if (!asked.ok)
    throw new CannotStart(`the registry answered ${path} with ${asked.status}: ${answer.slice(0, 200)}`)
  return JSON.parse(answer) as T
}
