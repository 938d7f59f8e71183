/** The migration that services of this version need, and with it all before it; a test of infra/migrate.ts holds the two together. */
export const newestMigration = '0052-open-checkouts'
