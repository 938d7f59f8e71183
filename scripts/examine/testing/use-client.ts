import { afterAll, beforeAll } from '@jest/globals'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'

/** A client of a database of the test file's own, which is dropped after its tests. */
export function useClient(): () => pg.Client {
  let database: TestDatabase
  let client: pg.Client
  beforeAll(async () => {
    database = await createTestDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
  })
  return () => client
}
