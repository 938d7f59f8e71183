import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { mutate } from './mutations/apply-mutation.ts'
import { catchMutation } from './mutations/catch-mutation.ts'
import { mutations } from './mutations/mutations.ts'
import { runSeeds } from './run-seeds.ts'

// Five seconds of CPU, which twenty other processes may share on a busy machine.
jest.setTimeout(600_000)

/**
 * Enough to detect coarse breakage. For a minute of seeds: `node tests/simulation/run.ts --seeds 2000 --jobs
 * 2`.
 */
const seeds = 60

test(`${seeds} histories keep what the system promises`, async () => {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const options = { from: 1, jobs: 1, secondsPerSeed: 90, mutation: undefined, isVerbose: false, say }
  const isWell = await runSeeds({ ...options, count: seeds })
  expect({ isWell, said: isWell ? '' : lines.join('\n') }).toEqual({ isWell: true, said: '' })
})

// Most mutations run only by hand, so this notices early that one no longer applies.
test('every mutation applies', () => {
  const root = join(import.meta.dirname, '..', '..')
  for (const [name, mutation] of Object.entries(mutations)) {
    const source = readFileSync(join(root, mutation.file), 'utf8')
    expect(mutate(source, name, mutation)).toContain(mutation.replace)
  }
})

/** One mutation per part; `node tests/simulation/run-mutations.ts` runs the others. */
describe('a mutation is caught', () => {
  test.each([
    'runtime-commits-before-work',
    'sink-forgets-jobs-of-what-is-delivered-again',
    'relay-makes-an-id-per-attempt',
    'scorer-makes-an-id-per-attempt',
    'fan-out-keeps-what-it-could-not-begin',
    'notifier-forgets-its-claim',
    'ingest-answers-before-the-broker',
    'findings-stay-resolved',
    'promotion-does-not-take-out',
  ])('%s', async (name) => {
    const { isCaught, said } = await catchMutation(name)
    expect({ isCaught, said }).toMatchObject({ isCaught: true })
  })
})
