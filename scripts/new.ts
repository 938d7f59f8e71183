import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { applyChanges, marker } from './skeleton/changes.ts'
import { scorerChanges } from './skeleton/new-scorer.ts'
import { serviceChanges } from './skeleton/new-service.ts'
import { parseOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/new scorer NAME --owasp LLM01
scripts/new service NAME [--reads TOPIC]

  Writes what a new scorer or consumer service consists of, and its rows in tables and YAML files.
  scripts/check then fails on every line that says ${marker}.

  --owasp CATEGORY   LLM01 to LLM10, the category that the scorer reports
  --reads TOPIC      a key of schemas/topics.ts (eventRaised)
`
const root = join(import.meta.dirname, '..')

function changesOf(kind: string | undefined, name: string, values: { owasp?: string; reads?: string }) {
  if (kind === 'scorer') return scorerChanges(name, values.owasp)
  if (kind === 'service') return serviceChanges(name, values.reads)
  throw new CannotStart(usage)
}

function run(): Promise<void> {
  const { values, positionals } = parseOptions(usage, {
    allowPositionals: true,
    options: {
      owasp: { type: 'string' },
      reads: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [kind, name, ...more] = positionals
  if (values.help === true) console.log(usage)
  else if (name === undefined || more.length > 0) throw new CannotStart(usage)
  else {
    const { changes, next } = changesOf(kind, name, values)
    const files = applyChanges(root, changes)
    const prettier = join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs')
    execFileSync(
      process.execPath,
      [prettier, '--write', '--log-level', 'warn', '--ignore-unknown', ...files],
      {
        cwd: root,
      },
    )
    console.log(`${files.map((file) => `wrote ${file}`).join('\n')}\n\nNext:\n${next}`)
  }
  return Promise.resolve()
}

await runCommand(run)
