import { expect, test } from '@jest/globals'
import { createTakeTurn } from './take-turns.ts'

/**
 * Workers that share one and take three turns each, and in which round of the event loop each of them was on.
 */
async function roundsOf(workers: readonly string[], beginMs: number, workMs: number): Promise<string[]> {
  let nowMs = 0
  const takeTurn = createTakeTurn(() => nowMs)
  nowMs = beginMs
  const rounds: string[] = ['']
  let isOver = false
  const countRounds = () => {
    if (isOver) return
    rounds.push('')
    setImmediate(countRounds)
  }
  setImmediate(countRounds)
  const work = async (name: string) => {
    for (let times = 0; times < 3; times += 1) {
      await takeTurn()
      rounds.push((rounds.pop() ?? '') + name)
      nowMs += workMs
    }
  }
  await Promise.all(workers.map(work))
  isOver = true
  return rounds.filter((names) => names !== '')
}

test('all that share it keep the event loop no longer than one would, and go on one after the other', async () => {
  expect(await roundsOf(['a', 'b', 'c'], 10, 10)).toEqual('abcabcabc'.split(''))
})

test('while a turn lasts nobody waits', async () => {
  expect(await roundsOf(['a', 'b', 'c'], 0, 1)).toEqual(['abcabcabc'])
})
