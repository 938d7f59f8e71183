import { expect, test } from '@jest/globals'
import { createPatience } from './patience.ts'

const patienceMs = 100_000

/** Whether the patience has run out after each of these, 60 s apart. */
function over(works: readonly [cpuMs: number, logBytes: number][], logCounts = true): boolean[] {
  const patience = createPatience(patienceMs, logCounts)
  return works.map(([cpuMs, logBytes], index) => patience.isOver({ cpuMs, logBytes }, index * 60_000))
}

const growing = [0, 1, 2, 3, 4, 5]

test.each<[string, boolean[], boolean[]]>([
  ['a log that grows', over(growing.map((n) => [0, n])), [false, false, false, false, false, false]],
  [
    'a log that was cut',
    over([
      [0, 9],
      [0, 9],
      [0, 1],
      [0, 1],
    ]),
    [false, false, false, false],
  ],
  ['10 % of a core', over(growing.map((n) => [6_000 * n, 0])), [false, false, false, false, false, false]],
  ['4 % of a core', over(growing.map((n) => [2_400 * n, 0])), [false, false, false, false, false, false]],
  ['a JVM that waits', over(growing.map((n) => [900 * n, 0])), [false, false, true, true, true, false]],
  [
    'nothing at all',
    over([
      [5, 5],
      [5, 5],
      [5, 5],
    ]),
    [false, false, true],
  ],
  [
    'work after a pause',
    over([
      [0, 0],
      [0, 0],
      [0, 1],
      [0, 1],
      [0, 1],
    ]),
    [false, false, false, false, true],
  ],
  [
    'a log that does not count',
    over(
      [
        [0, 0],
        [0, 1],
        [0, 2],
      ],
      false,
    ),
    [false, false, true],
  ],
])('%s', (_name, found, expected) => expect(found).toEqual(expected))
