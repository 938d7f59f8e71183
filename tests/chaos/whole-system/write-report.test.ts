import { expect, test } from '@jest/globals'
import type { FaultRecord } from './faults/carry-out.ts'
import { writeReport } from './write-report.ts'

const facts = {
  seed: 1,
  minutes: 60,
  callsPerSecond: 10,
  startedAt: '',
  versions: '',
  command: 'scripts/chaos',
}
const noWait = { p50: 0, p99: 0, max: 0 }

/** One fault per second, of two kinds in turn. Fault n recovers in n milliseconds. */
function report(count: number): string {
  const faults = Array.from({ length: count }, (_unused, turn): FaultRecord => {
    const beganMs = turn * 1_000
    const endedMs = beganMs + 500
    const kind = turn % 2 === 0 ? 'kill-process' : 'step-clock'
    return { kind, target: `of turn ${turn}`, beganMs, endedMs, recoveredMs: endedMs + turn * 100 }
  })
  const result = { findings: [], faults, leftOut: 0, calls: {}, lost: 0, restMs: 0, restarts: {} }
  return writeReport({ ...result, delays: { stored: noWait, scored: noWait } }, facts)
}

const turnsIn = (text: string) => [...text.matchAll(/of turn (\d+) \|/g)].map(([, turn]) => Number(turn))

test('a short run lists all of its faults', () => {
  expect(turnsIn(report(3))).toEqual([0, 1, 2])
})

test("an hour's faults are summed up by kind, and only the slowest are listed", () => {
  const text = report(370)
  expect(text).toContain('| kill-process | 185 | 0.5 s | 18.4 s | 36.8 s |')
  expect(text).toContain('| step-clock | 185 | 0.5 s | 18.5 s | 36.9 s |')
  expect(turnsIn(text)).toEqual(Array.from({ length: 40 }, (_unused, index) => 330 + index))
})
