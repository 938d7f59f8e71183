import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { ingestConfigSchema } from './config.ts'

test.each([
  ['1', ['DATABASE_POOL_SIZE']],
  ['2', []],
])('a pool of %s, of which one connection listens', (size, wrong) => {
  const parsed = parseConfig(ingestConfigSchema, {
    KAFKA_BROKERS: 'localhost:9092',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081',
    DATABASE_URL: 'postgres://localhost/sluice',
    DATABASE_POOL_SIZE: size,
  })
  const problems = parsed.ok ? [] : parsed.problems
  expect(problems.map((problem) => problem.split(':')[0])).toEqual(wrong)
})
