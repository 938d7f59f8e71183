import { readdirSync } from 'node:fs'

const folder = new URL('../infra/migrations/', import.meta.url)

/** Names of the migrations in infra/migrations, in the order in which they run. */
export const migrationNames: readonly string[] = readdirSync(folder)
  .filter((file) => /^\d{4}-.*\.ts$/.test(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted()

/** The migration that services of this version need, and with it all before it. */
export const newestMigration = migrationNames.at(-1) ?? ''
