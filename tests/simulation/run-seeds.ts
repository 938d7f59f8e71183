import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { programEnvironment } from '../support/program-environment.ts'
import type { SeedResult } from './simulate-seed.ts'

export interface SeedsToRun {
  from: number
  count: number
  /** Concurrent processes. */
  jobs: number
  /** A seed that takes longer hangs: it runs without advancing virtual time. */
  secondsPerSeed: number
  mutation: string | undefined
  /** Print the history; for one seed. */
  isVerbose: boolean
  /** Stop at the first seed that fails. */
  isOneEnough?: boolean
  say: (line: string) => void
}

type SeedReport = { seed: number } & Omit<SeedResult, 'history'>

const script = join(import.meta.dirname, 'run.ts')

/**
 * Runs seeds in child processes, which are killed if a seed hangs. Resolves to whether all passed. Rejects if
 * one cannot start.
 */
export async function runSeeds(options: SeedsToRun): Promise<boolean> {
  const { from, count, jobs, mutation, say } = options
  const startedMs = Date.now()
  const totals: Record<string, number> = {}
  let failed = 0
  let through = 0
  let next = from
  const again = (seed: number) => {
    const wrong = mutation === undefined ? '' : ` --mutation ${mutation}`
    return `  again: node tests/simulation/run.ts --seed ${seed}${wrong}`
  }
  const onSeed = ({ seed, failures, happened, did }: SeedReport) => {
    through++
    for (const [name, number] of Object.entries({ happened, ...did }))
      totals[name] = (totals[name] ?? 0) + number
    if (failures.length === 0) return
    failed++
    say([`seed ${seed}:`, ...failures.slice(0, 10).map((failure) => `  ${failure}`), again(seed)].join('\n'))
  }
  const isEnough = () => next >= from + count || (options.isOneEnough === true && failed > 0)
  const work = async () => {
    while (!isEnough()) {
      const first = next
      next = Math.min(next + chunkSeeds, from + count)
      const endedAt = await runChunk(first, next - first, options, (message) => {
        onSeed(message)
        return !(options.isOneEnough === true && failed > 0)
      })
      if (endedAt === null) continue
      failed++
      say(`seed ${endedAt.seed}:\n  ${endedAt.why}\n${again(endedAt.seed)}`)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  const seconds = ((Date.now() - startedMs) / 1_000).toFixed(1)
  say(`${through} seeds in ${seconds} s, ${failed} failed: ${JSON.stringify(totals)}`)
  return failed === 0
}

/** Sent by a child before its first seed. Loading is not counted: it takes long on a busy machine. */
export const loaded = 'loaded'

/** Large enough to hide the start of a process, small enough to share among processes. */
const chunkSeeds = 250

/** Resolves to null, or to the seed at which the process exited or hung. */
async function runChunk(
  from: number,
  count: number,
  { mutation, secondsPerSeed, isVerbose }: SeedsToRun,
  onSeed: (message: SeedReport) => boolean,
): Promise<{ seed: number; why: string } | null> {
  const seeds = isVerbose ? ['--seed', String(from)] : ['--from', String(from), '--seeds', String(count)]
  const wrong = mutation === undefined ? [] : ['--mutation', mutation]
  const child = fork(script, ['--child', ...seeds, ...wrong], {
    execArgv: ['--stack-trace-limit=5'],
    // A compile cache: compiling is most of the time before the first seed.
    env: { ...process.env, ...programEnvironment() },
  })
  const { promise, resolve, reject } = Promise.withResolvers<{ seed: number; why: string } | null>()
  let seed = from
  let isLoaded = false
  let isEnded = false
  let watch: NodeJS.Timeout | undefined
  child.on('message', (message) => {
    clearTimeout(watch)
    if (message === loaded) {
      isLoaded = true
      watch = watchOver(child, secondsPerSeed)
      return
    }
    seed = (message as SeedReport).seed + 1
    if (onSeed(message as SeedReport)) watch = watchOver(child, secondsPerSeed)
    else {
      isEnded = true
      child.kill('SIGKILL')
    }
  })
  child.on('exit', (code, signal) => {
    clearTimeout(watch)
    if (isEnded || code === 0) resolve(null)
    // A mutation that no longer applies must not count as caught.
    else if (!isLoaded) reject(new Error(`the simulation did not start: it exited with ${code ?? signal}`))
    else if (signal === 'SIGKILL') resolve({ seed, why: `it hangs: not finished within ${secondsPerSeed} s` })
    else resolve({ seed, why: `the simulation ended with ${code ?? signal}` })
  })
  return promise
}

function watchOver(child: ChildProcess, seconds: number): NodeJS.Timeout {
  return setTimeout(() => child.kill('SIGKILL'), seconds * 1_000)
}
