import { parseArgs } from 'node:util'
import { applyMutation } from './mutations/apply-mutation.ts'
import { loaded, runSeeds } from './run-seeds.ts'

// Seeds in this process, or with --jobs in several at a time. One that fails prints the command that plays it again, with what happened.
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    mutation: { type: 'string' },
    'seconds-per-seed': { type: 'string', default: '60' },
    child: { type: 'boolean', default: false },
  },
})

const from = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
if (values.mutation !== undefined) applyMutation(values.mutation)
if (values.child) {
  // Loaded here, so that a mutation is in place before the code that it changes.
  const { simulateSeed } = await import('./simulate-seed.ts')
  process.send?.(loaded)
  for (let seed = from; seed < from + count; seed++) {
    const { history, ...result } = await simulateSeed(seed, values.seed !== undefined)
    for (const line of history) console.log(line)
    process.send?.({ seed, ...result })
  }
  process.disconnect()
} else {
  const isWell = await runSeeds({
    from,
    count,
    jobs: Number(values.jobs),
    secondsPerSeed: Number(values['seconds-per-seed']),
    mutation: values.mutation,
    isTold: values.seed !== undefined,
    say: (line) => console.log(line),
  })
  if (!isWell) process.exitCode = 1
}
