import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { findStore } from './stack/find-store.ts'
import { readOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/scorers try FILE [--days N] [--project ID] [--state DIR]

  prints which recent calls the custom scorers in FILE (format of evals/scorers.yaml) would hit; writes nothing

  --days N         how far back (7)                   --project ID   only this project
  --state DIR      the running stack (.sluice); DATABASE_URL and BODY_ENCRYPTION_KEYS take its place
`

async function run(): Promise<void> {
  const { values, positionals } = readOptions(usage, { texts: ['days', 'project'] })
  const [verb, file] = positionals
  if (values.help === true) {
    console.log(usage)
    return
  }
  if (verb !== 'try' || file === undefined || positionals.length > 2)
    throw new CannotStart(`expected "try FILE"\n\n${usage}`)
  const env = await findStore(values.state, process.env)
  const options = Object.entries({ days: values.days, project: values.project }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
  const main = join(import.meta.dirname, '..', 'services', 'scorer', 'try', 'main.ts')
  const child = spawn(process.execPath, [main, file, ...options], { env, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
}

await runCommand(run)
