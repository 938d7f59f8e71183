import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import type { Environment } from '#runtime/config.ts'
import { readJson, writeJson } from './state-directory.ts'

export interface Secrets {
  INTERNAL_API_SECRET: string
  PROXY_API_KEY: string
  /** 32 bytes, base64. */
  SPOOL_KEY: string
  /** `id:base64 of 32 bytes`. */
  BODY_ENCRYPTION_KEYS: string
  /** The same; of another key. */
  SEARCH_KEY: string
}

/**
 * The stack's secrets: those of the environment (or, as `NAME_FILE`, of a file), the others generated once
 * and stored in `file`. Given values do not overwrite stored ones, which are needed again later.
 */
export async function obtainSecrets(file: string, environment: Environment): Promise<Secrets>
/** Other secrets than a stack's. */
export async function obtainSecrets<T extends object>(
  file: string,
  environment: Environment,
  generate: () => T,
): Promise<T>
export async function obtainSecrets(
  file: string,
  environment: Environment,
  generate: () => object = generateSecrets,
): Promise<object> {
  const kept = (await readJson(file)) as object | undefined
  const complete = { ...generate(), ...kept }
  await writeJson(file, complete)
  const given = await Promise.all(
    Object.keys(complete).map(async (name) => [name, await readGiven(name, environment)] as const),
  )
  return { ...complete, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
}

async function readGiven(name: string, environment: Environment): Promise<string | undefined> {
  const file = environment[`${name}_FILE`]
  if (file && environment[name])
    throw new CannotStart(`${name} and ${name}_FILE are both set: take one away.`)
  const value = file ? (await readFile(file, 'utf8')).trimEnd() : environment[name]
  return value === '' ? undefined : value
}

export function generateSecrets(): Secrets {
  return {
    INTERNAL_API_SECRET: randomBytes(32).toString('base64url'),
    PROXY_API_KEY: `proxy-${randomBytes(24).toString('hex')}`,
    SPOOL_KEY: randomBytes(32).toString('base64'),
    BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    SEARCH_KEY: `s1:${randomBytes(32).toString('base64')}`,
  }
}
