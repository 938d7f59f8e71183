import { expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createSealer } from '#runtime/sealing.ts'
import { createWaitingCallStore } from './waiting-call-store.ts'

test.each([
  ['a project', {}, false, true],
  ['a project that masks, and nothing is encrypted', { masks: true }, false, false],
  ['a project that masks, encrypted', { masks: true }, true, true],
  ['a project without retention', { zeroContentRetention: true }, true, false],
])('calls of %s', (_name, settings, isSealed, mayWait) => {
  const store = createWaitingCallStore({
    // Connects at its first query.
    pool: new pg.Pool(),
    sealer: createSealer([]),
    clock: systemClock,
    takeTurn: () => Promise.resolve(),
    ...{ waitMs: 1, maxCallBytes: 1, isSealed },
  })
  const project = { projectId: 'prj_1', tier: 'team' as const, zeroContentRetention: false, ...settings }
  expect(store.takesOf(project)).toBe(mayWait)
})
