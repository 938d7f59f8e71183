import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { ingestConfigSchema, maxCallBytes } from './config.ts'

const given = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  DATABASE_URL: 'postgres://localhost/sluice',
}

test.each([
  ['1', ['DATABASE_POOL_SIZE']],
  ['2', []],
])('a pool of %s, of which one connection listens', (size, wrong) => {
  const parsed = parseConfig(ingestConfigSchema, { ...given, DATABASE_POOL_SIZE: size })
  const problems = parsed.ok ? [] : parsed.problems
  expect(problems.map((problem) => problem.split(':')[0])).toEqual(wrong)
})

test.each<[string | undefined, string | undefined, number]>([
  [undefined, undefined, 10_485_760],
  ['8388608', undefined, 8_257_536],
  ['8388608', '8257536', 8_257_536],
  ['20971520', undefined, 10_485_760],
  [undefined, '12582912', 12_582_912],
])('of records of %s bytes, BODY_MAX_BYTES=%s takes calls of %i', (record, body, expected) => {
  const parsed = parseConfig(ingestConfigSchema, {
    ...given,
    KAFKA_MAX_RECORD_BYTES: record,
    BODY_MAX_BYTES: body,
  })
  expect(parsed.ok && maxCallBytes(parsed.value)).toBe(expected)
})

test('calls that would not fit into a record are refused at the start, beside all other problems', () => {
  const limits = { KAFKA_MAX_RECORD_BYTES: '8388608', BODY_MAX_BYTES: '8257537', LOG_LEVEL: 'loud' }
  for (const schema of [ingestConfigSchema, apiConfigSchema])
    expect(parseConfig(schema, { ...given, ...limits })).toEqual({
      ok: false,
      problems: [
        expect.stringMatching(/^LOG_LEVEL: /),
        'BODY_MAX_BYTES: is 8257537, but KAFKA_MAX_RECORD_BYTES leaves room for 8257536: lower it, or unset it',
      ],
    })
})
