import { runSeeds } from '../run-seeds.ts'

/** Every mutation is caught within this many seeds; the last at 609. */
const enoughSeeds = 1_000

/** Runs seeds with a mutation until one fails. `said` is the output. */
export async function catchMutation(name: string): Promise<{ isCaught: boolean; said: string }> {
  const lines: string[] = []
  const isWell = await runSeeds({
    from: 1,
    count: enoughSeeds,
    jobs: 1,
    // A seed takes 0.1 s. One that hangs is given up early.
    secondsPerSeed: 60,
    mutation: name,
    isVerbose: false,
    isOneEnough: true,
    say: (line) => void lines.push(line),
  })
  return { isCaught: !isWell, said: lines.join('\n') }
}
