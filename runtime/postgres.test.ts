import { expect, test } from '@jest/globals'
import { TransientError } from './errors.ts'
import { classifyPostgresError } from './postgres.ts'

const withCode = (code: string) => Object.assign(new Error('x'), { code })

test.each(['ECONNREFUSED', '57P01', '08006', '40001', '40P01', '53300', '57014', '25006', '25P03', '28P01'])(
  '%s passes by itself',
  (code) => {
    expect(classifyPostgresError(withCode(code))).toBeInstanceOf(TransientError)
  },
)

test.each(['23505', '22021', '42P01', '22P02'])('%s stays as it is', (code) => {
  const error = withCode(code)
  expect(classifyPostgresError(error)).toBe(error)
})

test('a refused connection to every address of a host passes by itself', () => {
  expect(classifyPostgresError(new AggregateError([withCode('ECONNREFUSED')], ''))).toBeInstanceOf(
    TransientError,
  )
})

test.each(['Connection terminated unexpectedly', 'Query read timeout'])(
  'a connection that ended in mid-query passes by itself: %s',
  (message) => {
    expect(classifyPostgresError(new Error(message))).toBeInstanceOf(TransientError)
  },
)
