import { access, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { redteamCommandSchema } from '#schemas/redteam-run.ts'
import { readOptions } from './read-options.ts'

export const usage = `scripts/redteam run --target URL --project ID --agent NAME [options]
scripts/redteam import FILE --format garak|promptfoo --project ID --agent NAME [--limit N]
scripts/redteam resume RUN [FILE] [--key, --command, --probes as at the start]
scripts/redteam cancel RUN
scripts/redteam report RUN [--format json|html|junit|garak] [--out FILE]

  --model NAME       that the target is asked for       --key KEY          bearer token of the target; it is not stored
  --template FILE    JSON {"url", "headers" with {{key}}, "body" with {{prompt}}, "answer": JSON pointer}, instead of --target
  --command JSON     ["program", "argument"]: says what it reads on standard input to the agent and writes the answer
  --probes A,B       ids, beginnings of ids, categories, scorers; what ends in .yaml is a file of more probes,
                     in our form or promptfoo's; without ids beside it all probes run, ours too
  --transformations A,B (plain)    --repeats N (1)    --limit N    --seed TEXT (1)    --concurrency N (4)
  --requests-per-minute N          --budget-usd N     --alert      raise threat_detected for what fails
  --fail-over SHARE  end with 1 when a larger share of what was judged failed (0 to 1), fewer were judged than not, or the budget stopped the run
  --format F --out FILE            write the report when it is over; of an import in the form of FILE if it is garak's, else as JSON
  --state DIR        the running stack (.sluice); PUBLIC_BASE_URL, INTERNAL_API_SECRET and DATABASE_URL take its place

Hosts other than loopback are attacked only when REDTEAM_ALLOWED_HOSTS names them. A run that was killed goes on with \`resume\`.
`

const ofTarget = ['target', 'model', 'key', 'template', 'command', 'project', 'agent'] as const
const ofPlan = [
  ...(['probes', 'transformations', 'repeats', 'limit', 'seed'] as const),
  ...(['concurrency', 'requests-per-minute', 'budget-usd'] as const),
]

/** Arguments of scripts/redteam. Throws CannotStart with the usage. */
export function readArguments() {
  return readOptions(usage, {
    texts: [...ofTarget, ...ofPlan, 'format', 'out', 'fail-over'],
    flags: ['alert'],
  })
}

export type Values = ReturnType<typeof readArguments>['values']

export const wordsOf = (list: string | undefined) => (list ?? '').split(',').filter((word) => word !== '')
export const isFile = (word: string) => /\.ya?ml$/.test(word)

/** Throws CannotStart if it is no number. */
export function numberOf(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const value = Number(given)
  if (given.trim() === '' || Number.isNaN(value))
    throw new CannotStart(`--${name}: expected a number, not ${given}`)
  return value
}

/** The target as the API expects it. */
export async function targetOf(values: Values): Promise<object> {
  if (values.command !== undefined) return { kind: 'command' }
  if (values.template !== undefined) return { kind: 'http', ...(await readTemplate(values.template)) }
  if (values.target === undefined)
    throw new CannotStart(`--target, --template or --command is needed\n\n${usage}`)
  return { kind: 'chat', url: values.target, ...(values.model === undefined ? {} : { model: values.model }) }
}

async function readTemplate(file: string): Promise<object> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as object
  } catch (error) {
    throw new CannotStart(`--template ${file}: ${messageOf(error)}`)
  }
}

/** Checks before the run is ordered what would otherwise fail only at its end. */
export async function checkArguments(values: Values, recordedFile: string | undefined): Promise<void> {
  const threshold = numberOf('fail-over', values['fail-over']) ?? 0
  if (threshold < 0 || threshold > 1)
    throw new CannotStart(`--fail-over: expected a share from 0 to 1, not ${threshold}`)
  checkCommand(values.command)
  for (const file of [
    ...wordsOf(values.probes).filter(isFile),
    ...(recordedFile === undefined ? [] : [recordedFile]),
  ])
    await access(file).catch((error: unknown) => {
      throw new CannotStart(`${file} cannot be read: ${messageOf(error)}`)
    })
}

function checkCommand(command: string | undefined): void {
  if (command === undefined) return
  try {
    redteamCommandSchema.parse(JSON.parse(command))
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues[0]?.message : messageOf(error)
    throw new CannotStart(`--command: expected a JSON array of a program and its arguments: ${why ?? ''}`)
  }
}
