import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { Problem } from './problem.ts'
import { validate } from './validate.ts'

function faultsOf(schema: z.ZodType, input: unknown): Problem {
  try {
    validate(schema, input)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('it is valid')
}

test('of many fields at fault the first hundred are named, none at length', () => {
  const input = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`field_${n}${'x'.repeat(1_000)}`, 0]),
  )
  const { message, errors } = faultsOf(z.strictObject({}), input)
  expect(message).toMatch(/^field_0x{193}: is not known here \(and 9999 more, see errors\)$/)
  expect(errors).toHaveLength(100)
})

test('a body that is not there is required', () => {
  expect(faultsOf(z.strictObject({}), undefined).message).toBe('body: is required')
})
