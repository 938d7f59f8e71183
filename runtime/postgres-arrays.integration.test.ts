import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { postgresArray, type ArrayType } from './postgres-arrays.ts'

let client: pg.Client

beforeAll(async () => {
  client = new pg.Client({ connectionString: testInfrastructure().postgresUrl })
  await client.connect()
})

afterAll(() => client.end())

const uuid = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const hostile = `}{"',\\ NULL ü € 😀 \u2028`

test.each<[ArrayType, readonly unknown[], readonly unknown[]]>([
  ['uuid', [Buffer.from(uuid.replaceAll('-', ''), 'hex'), null], [uuid, null]],
  ['text', [hostile, '', null], [hostile, '', null]],
  ['int4', [2 ** 31 - 1, -(2 ** 31), null], [2 ** 31 - 1, -(2 ** 31), null]],
  ['float8', [0.1, -1e300], [0.1, -1e300]],
  ['timestamptz', [0, 1_763_754_123_456, null], [new Date(0), new Date(1_763_754_123_456), null]],
  ['bool', [true, false, null], [true, false, null]],
  ['bytea', [Buffer.from([0, 255, 92]), Buffer.alloc(0)], [Buffer.from([0, 255, 92]), Buffer.alloc(0)]],
  ['text', [], []],
])('Postgres reads %s of %j as they were', async (type, given, read) => {
  const values = given as readonly never[]
  const { rows } = await client.query<{ value: unknown }>(
    `select value from unnest($1::${type}[]) with ordinality as given (value, place) order by place`,
    [postgresArray(type, values, (value) => value)],
  )
  expect(rows.map(({ value }) => value)).toEqual(read)
})

test('a number that does not fit is refused here', () => {
  expect(() => postgresArray('int4', [2 ** 31], (value) => value)).toThrow('out of range')
})
