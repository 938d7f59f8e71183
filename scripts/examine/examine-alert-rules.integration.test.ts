import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'
import { addAlertRule } from '#services/sink/testing/add-alert-rule.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { examineAlertRules } from './examine-alert-rules.ts'

let database: TestDatabase
let pool: pg.Pool
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await pool.end()
  await database.drop()
})

test('reports rules that nobody evaluated for five minutes', async () => {
  expect(await examineAlertRules(client)).toMatchObject([
    { state: 'ok', what: '0 enabled, 0 firing, none late' },
  ])
  const projectId = newId('project')
  await client.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [
    idToUuid(projectId),
  ])
  await addAlertRule(pool, projectId, { metric: 'calls', alert_threshold: 1 })
  expect(await examineAlertRules(client)).toMatchObject([{ check: 'alert rules', state: 'warning' }])
  await client.query(`update alert_states set due_at = now(), told_level = 'alert'`)
  expect(await examineAlertRules(client)).toMatchObject([
    { state: 'ok', what: '1 enabled, 1 firing, none late' },
  ])
})
