import { randomBytes } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '#runtime/config.ts'
import { generateSecrets, obtainSecrets, type Secrets } from './secrets.ts'

/** Two folders, each a volume of docker-compose.kafka.yml: the gateway's container sees only its own. */
export interface SecretFolders {
  services: string
  gateway: string
}

interface ComposeSecrets extends Secrets {
  POSTGRES_PASSWORD: string
  /** Shared by red team and gateway. */
  REDTEAM_MARK_SECRET: string
}

/** Secrets by folder, and so by container. */
export const secretNames: Readonly<Record<keyof SecretFolders, readonly string[]>> = {
  services: [
    'POSTGRES_PASSWORD',
    'DATABASE_URL',
    'INTERNAL_API_SECRET',
    'BODY_ENCRYPTION_KEYS',
    'SEARCH_KEY',
    'REDTEAM_MARK_SECRET',
  ],
  gateway: ['PROXY_API_KEY', 'SPOOL_KEY', 'REDTEAM_MARK_SECRET'],
}

/**
 * Writes the secrets of docker-compose.kafka.yml, one per file, for NAME_FILE: those of the environment, the
 * others generated once and stored in secrets.json. Also stores a given Postgres password, because the server
 * keeps the one of its first start.
 */
export async function writeSecretFiles(folders: SecretFolders, environment: Environment): Promise<void> {
  const secrets = await obtainSecrets<ComposeSecrets>(
    join(folders.services, 'secrets.json'),
    environment,
    () => ({
      ...generateSecrets(),
      POSTGRES_PASSWORD: environment['POSTGRES_PASSWORD'] || randomBytes(24).toString('hex'),
      REDTEAM_MARK_SECRET: randomBytes(32).toString('base64url'),
    }),
  )
  const password = encodeURIComponent(secrets.POSTGRES_PASSWORD)
  const all: Record<string, string> = {
    ...secrets,
    DATABASE_URL: `postgres://sluice:${password}@postgres:5432/sluice`,
  }
  for (const owner of ['services', 'gateway'] as const)
    for (const name of secretNames[owner]) await writeSecret(folders[owner], name, all[name] ?? '')
}

/** Written atomically, readable by its owner only. */
export async function writeSecret(folder: string, name: string, value: string): Promise<void> {
  const file = join(folder, name)
  await writeFile(`${file}.next`, value, { mode: 0o600 })
  await rename(`${file}.next`, file)
}
