import { runSeeds } from '../run-seeds.ts'

/** Every mistake is found within so many seeds; the last at 609. */
const enoughSeeds = 1_000

/** Runs seeds with a mistake put in until one of them fails. `said` is what the run printed. */
export async function catchMutation(name: string): Promise<{ isCaught: boolean; said: string }> {
  const lines: string[] = []
  const isWell = await runSeeds({
    from: 1,
    count: enoughSeeds,
    jobs: 1,
    // A seed takes a tenth of a second; one that hangs need not be waited for long.
    secondsPerSeed: 60,
    mutation: name,
    isTold: false,
    isOneEnough: true,
    say: (line) => void lines.push(line),
  })
  return { isCaught: !isWell, said: lines.join('\n') }
}
