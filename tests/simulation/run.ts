import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { parseOptions } from '#scripts/stack/read-options.ts'
import { runCommand } from '#scripts/stack/run-command.ts'
import { applyMutation } from './mutations/apply-mutation.ts'
import { mutations } from './mutations/mutations.ts'
import { loaded, runSeeds } from './run-seeds.ts'

const usage = `node tests/simulation/run.ts [--seeds N] [--from N] [--jobs N] [--seed N] [--mutation NAME]
                              [--seconds-per-seed N]

  plays histories of the pipeline. For one that fails, prints the command that replays it, and its history.
  Exit code 1 if one failed.

  --seeds N             number of seeds (1000)
  --from N              the first seed (1)
  --jobs N              concurrent processes (1)
  --seed N              only this seed, printing its history
  --mutation NAME       with a mutation of mutations/mutations.ts
  --seconds-per-seed N  a seed that takes longer hangs (60)
`

function readArguments() {
  const { values } = parseOptions(usage, {
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      mutation: { type: 'string' },
      'seconds-per-seed': { type: 'string', default: '60' },
      child: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  for (const name of ['seeds', 'from', 'seed', 'jobs', 'seconds-per-seed'] as const)
    if (!/^[1-9]\d*$/.test(values[name] ?? '1'))
      throw new CannotStart(`--${name} takes a whole number, not ${values[name]}\n\n${usage}`)
  const { mutation } = values
  if (mutation !== undefined && !Object.hasOwn(mutations, mutation))
    throw new CannotStart(`there is no mutation ${mutation}\n\n${usage}`)
  return values
}

await runCommand(
  async () => {
    const values = readArguments()
    if (values.help) console.log(usage)
    else await run(values)
  },
  (error) => error instanceof CannotStart,
)

async function run(values: ReturnType<typeof readArguments>): Promise<void> {
  const from = Number(values.seed ?? values.from)
  const count = values.seed === undefined ? Number(values.seeds) : 1
  if (values.mutation !== undefined) applyMutation(values.mutation)
  if (values.child) await runHere(from, count, values.seed !== undefined)
  else {
    const isWell = await runSeeds({
      from,
      count,
      jobs: Number(values.jobs),
      secondsPerSeed: Number(values['seconds-per-seed']),
      mutation: values.mutation,
      isVerbose: values.seed !== undefined,
      say: (line) => console.log(line),
    })
    if (!isWell) process.exitCode = 1
  }
}

async function runHere(from: number, count: number, isVerbose: boolean): Promise<void> {
  // Imported here, so that a mutation is in place before the code that it changes.
  const { simulateSeed } = await import('./simulate-seed.ts')
  process.send?.(loaded)
  for (let seed = from; seed < from + count; seed++) {
    const { history, ...result } = await simulateSeed(seed, isVerbose)
    for (const line of history) console.log(line)
    process.send?.({ seed, ...result })
  }
  process.disconnect()
}
