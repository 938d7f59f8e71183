import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const usage = `scripts/bench [NAME…] [-- OPTIONS]

  runs tests/bench/NAME.ts one after another, by default all but those that take many minutes (api,
  dashboard, gateway-soak, pipeline). Appends the figures, the last line of each, to
  docs/benchmarks/NAME.jsonl; a variant has its own file (gateway -- --tls: gateway-tls.jsonl). OPTIONS are
  passed on. Run it on an otherwise idle machine.
`
const root = join(import.meta.dirname, '..')
/** Run only by name: two need ten million rows, the others take five and fifteen minutes. */
const long = new Set(['api', 'dashboard', 'gateway-soak', 'pipeline'])

const given = process.argv.slice(2)
const split = given.indexOf('--')
const names = split === -1 ? given : given.slice(0, split)
const options = split === -1 ? [] : given.slice(split + 1)
const known = (await readdir(join(root, 'tests', 'bench')))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
const unknown = names.find((name) => !known.includes(name))

if (given.includes('--help') || unknown !== undefined) {
  console.log(`${usage}\n  benchmarks: ${known.join(', ')}`)
  process.exitCode = unknown === undefined || given.includes('--help') ? 0 : 2
} else {
  for (const name of names.length > 0 ? names : known.filter((each) => !long.has(each))) await measure(name)
}

async function measure(name: string): Promise<void> {
  console.log(`--- ${name}`)
  const script = join(root, 'tests', 'bench', `${name}.ts`)
  const child = spawn(process.execPath, [script, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    process.stdout.write(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const last = printed.trimEnd().split('\n').at(-1) ?? ''
  if (code !== 0 || !last.startsWith('{"bench"')) {
    console.error(`${name} ended with ${code} and no figures`)
    process.exitCode = 1
    return
  }
  const directory = join(root, 'docs', 'benchmarks')
  await mkdir(directory, { recursive: true })
  // A variant reports another name than its program, so that its figures do not replace the benchmark's.
  const { bench } = JSON.parse(last) as { bench: string }
  await appendFile(join(directory, `${bench}.jsonl`), `${last}\n`)
}
