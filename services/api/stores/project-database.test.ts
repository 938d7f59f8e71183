import { describe, expect, test } from '@jest/globals'
import type { Pool } from 'pg'
import type { Principal } from '#http/access/principal.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createProjectDatabases } from './project-database.ts'

const own = newId('project')
const other = newId('project')
const key: Principal = {
  kind: 'key',
  key: {
    keyId: newId('key'),
    scope: 'all',
    expiresAtMs: null,
    project: { projectId: own, tier: 'free', zeroContentRetention: false },
  },
}
const operator: Principal = { kind: 'operator' }

/** The statements that would be sent to Postgres. */
function record() {
  const sent: { role: string; text: string; values: unknown[] }[] = []
  const client = (role: string) => ({
    query: (statement: string | { text: string; values: unknown[] }) => {
      const { text, values } = typeof statement === 'string' ? { text: statement, values: [] } : statement
      sent.push({ role, text, values })
      return Promise.resolve({ rows: [] })
    },
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
  })
  const pool = { connect: () => Promise.resolve(client('project')) } as unknown as Pool
  return {
    sent,
    databases: createProjectDatabases({
      pool,
      operatorPool: client('operator') as unknown as Pool,
      watch: (_text, run) => run(),
      countedDays: () => Promise.resolve(-Infinity),
    }),
  }
}

describe('a project database', () => {
  test.each([
    ["a key's own project", key, undefined, own],
    ["a key's own project, named", key, own, own],
    ['the project that the operator names', operator, other, other],
  ])('is of %s', async (_name, principal, requested, expected) => {
    const { sent, databases } = record()
    await databases.ofOne(principal, requested).query('select from t where :scope(t) and x = $2', ['x'])
    expect(sent).toEqual([
      { role: 'project', text: `begin; set local sluice.project = '${idToUuid(expected)}'`, values: [] },
      {
        role: 'project',
        text: 'select from t where t.project_id = $1 and x = $2',
        values: [idToUuid(expected), 'x'],
      },
      { role: 'project', text: 'commit', values: [] },
    ])
  })

  test('is of every project only for the operator who names none', async () => {
    const { sent, databases } = record()
    await databases.of(operator, undefined).query('select from t where :scope(t)')
    expect(sent).toEqual([{ role: 'operator', text: 'select from t where $1::uuid is null', values: [null] }])
  })

  test.each([
    ["another's project", key, other, 'another project'],
    ['nobody', { kind: 'anonymous' } as const, undefined, 'API key'],
  ])('is refused to %s', (_name, principal, requested, message) => {
    const { databases } = record()
    expect(() => databases.of(principal, requested)).toThrow(message)
    expect(() => databases.ofOne(principal, requested)).toThrow(message)
  })

  test('of one project needs one from the operator', () => {
    expect(() => record().databases.ofOne(operator, undefined)).toThrow('project_id: is required')
  })

  test('sends no statement that forgets its scope', async () => {
    const { sent, databases } = record()
    await expect(databases.of(key, undefined).query('select from t')).rejects.toThrow('no :scope()')
    expect(sent).toEqual([])
  })
})
