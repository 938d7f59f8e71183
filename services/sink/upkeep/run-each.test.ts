import { expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { runEach } from './run-each.ts'

const log = createLog('test', 'silent')
const fails = (error: Error) => () => Promise.reject(error)

test('a failing step does not stop the others; a permanent failure is thrown first', async () => {
  const done: number[] = []
  const step = (number: number) => () => Promise.resolve(void done.push(number))
  const away = new TransientError('POSTGRES_UNAVAILABLE', 'away')
  await expect(runEach([step(1), fails(away), step(2)], log)).rejects.toBe(away)
  await expect(runEach([fails(away), fails(new TypeError('a defect')), step(3)], log)).rejects.toThrow(
    'a defect',
  )
  expect(done).toEqual([1, 2, 3])
  await expect(runEach([fails(away), fails(away), fails(away), step(4)], log)).rejects.toBe(away)
  expect(done).toEqual([1, 2, 3])
  // Three that are not in a row.
  await expect(runEach([fails(away), fails(away), step(5), fails(away), step(6)], log)).rejects.toBe(away)
  expect(done).toEqual([1, 2, 3, 5, 6])
  expect(await runEach([() => Promise.resolve(true)], log)).toEqual([true])
})
