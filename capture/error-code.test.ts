import { expect, test } from '@jest/globals'
import { codeOfError } from './error-code.ts'

test.each([
  ['TypeError: no customer Jane Doe', 'TypeError'],
  ['ValidationException: input was 4111111111111111', 'ValidationException'],
  ['ECONNREFUSED', 'ECONNREFUSED'],
  ['RATE_LIMITED: tried four times', 'RATE_LIMITED'],
  ['context_length_exceeded', 'context_length_exceeded'],
  ['RESOURCE_EXHAUSTED: of what Jane Doe has', 'RESOURCE_EXHAUSTED'],
  ['overloaded_error: Jane Doe asked', 'overloaded_error'],
  ['EDWARD: not found', 'error'],
  ['JANE_DOE: no such user', 'error'],
  ['jane_doe', 'error'],
  ['jane_doe: no such user', 'error'],
  ['Jane: not found', 'error'],
  ['DE89370400440532013000: is no IBAN', 'error'],
  ["invalid input: 'my password is hunter2'", 'error'],
  ['my secret Error', 'error'],
  [`${'A'.repeat(80)}Error`, 'error'],
  ['', 'error'],
])('%j is told as %s', (error, code) => {
  expect(codeOfError(error)).toBe(code)
})
