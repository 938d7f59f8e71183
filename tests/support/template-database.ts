import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { escapeIdentifier, type Client } from 'pg'

const INFRA = join(import.meta.dirname, '..', '..', 'infra')
// Arbitrary. Makes concurrent test processes create the template one at a time.
const TEMPLATE_LOCK = 4_816_023

/**
 * The name of a database with all migrations applied, created once per state of the migrations. A copy takes
 * a tenth of the time. `client` is connected to the maintenance database.
 */
export async function migratedTemplate(client: Client, urlOf: (database: string) => string): Promise<string> {
  const name = `sluice-template-${await migrationsHash()}`
  await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 1) return name
    const building = `${name}-building`
    await client.query(`drop database if exists ${escapeIdentifier(building)} with (force)`)
    await client.query(`create database ${escapeIdentifier(building)}`)
    // Imported lazily: loading takes 0.15 s of CPU in each of a hundred test files, and all but one only
    // copy.
    const { migrate } = await import('#infra/migrate.ts')
    await migrate(urlOf(building))
    await client.query(`alter database ${escapeIdentifier(building)} rename to ${escapeIdentifier(name)}`)
    return name
  } finally {
    await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  }
}

async function migrationsHash(): Promise<string> {
  const names = (await readdir(join(INFRA, 'migrations'))).filter((name) => name.endsWith('.ts')).sort()
  const own = ['migrate.ts', 'row-security.ts'].map((name) => join(INFRA, name))
  const files = [...own, ...names.map((name) => join(INFRA, 'migrations', name))]
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}
