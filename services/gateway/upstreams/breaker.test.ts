import { expect, test } from '@jest/globals'
import { createBreaker } from './breaker.ts'

function started() {
  const changes: boolean[] = []
  const clock = { ms: 0 }
  const breaker = createBreaker({
    failures: 2,
    openMs: 100,
    now: () => clock.ms,
    onChange: (isOpen) => changes.push(isOpen),
  })
  return { breaker, changes, clock }
}

test('it opens after failures in a row, lets one call try after its time, and closes when that is answered', () => {
  const { breaker, changes, clock } = started()
  breaker.failed()
  expect(breaker.mayTry()).toBe(true)
  breaker.failed()
  expect(breaker.mayTry()).toBe(false)
  clock.ms = 100
  expect([breaker.mayTry(), breaker.mayTry()]).toEqual([true, false])
  breaker.failed()
  clock.ms = 199
  expect(breaker.mayTry()).toBe(false)
  clock.ms = 200
  expect(breaker.mayTry()).toBe(true)
  breaker.answered()
  expect([breaker.mayTry(), breaker.mayTry()]).toEqual([true, true])
  expect(changes).toEqual([true, false])
})

test('failures between answers do not open it', () => {
  const { breaker, changes } = started()
  for (let call = 0; call < 10; call++) {
    breaker.failed()
    breaker.answered()
  }
  expect(breaker.mayTry()).toBe(true)
  expect(changes).toEqual([])
})

test('a trial without an outcome does not keep it open for ever', () => {
  const { breaker, clock } = started()
  breaker.failed()
  breaker.failed()
  clock.ms = 100
  expect(breaker.mayTry()).toBe(true)
  clock.ms = 200
  expect(breaker.mayTry()).toBe(true)
})
