import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { callApi, findApi, type OperatorApi } from './stack/operator-api.ts'
import { readOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/redrive ID... | [FILTER]                      sends open dead letters to their topics, each once
scripts/redrive list [FILTER] [--status S] [--limit N]  lists the newest (open ones, 50)
scripts/redrive show ID                                 shows one, without its contents
scripts/redrive drop (ID... | FILTER) --reason TEXT     marks them as needing nothing more

FILTER, for open dead letters from before now, oldest first:
  --topic NAME     of this topic (without .dlq)       --code CODE    with this error code
  --project ID     of this project                    --from, --to   from this time (ISO 8601)
  --dry-run        only count them

  --status S       open, redriven, dropped or lost
  --state DIR      the running stack (.sluice); PUBLIC_BASE_URL and INTERNAL_API_SECRET take its place
`

interface DeadLetter {
  id: string
  topic: string
  code: string
  message: string
  project_id: string | null
  dead_at: string
  status: string
}

interface Round {
  redriven?: number
  dropped?: number
  failed: { id: string; detail: string }[]
  next: string | null
}

/** An action on dead letters, and its past tense for messages. */
interface Deed {
  verb: 'redrive' | 'drop'
  done: string
  body: Readonly<Record<string, string>>
}

function readArguments() {
  return readOptions(usage, {
    texts: ['topic', 'code', 'project', 'from', 'to', 'status', 'limit', 'reason'],
    flags: ['dry-run'],
  })
}

type Values = ReturnType<typeof readArguments>['values']
type Filter = Record<string, string>

function filterOf({ topic, code, project, from, to }: Values): Filter {
  return given({ topic, code, project_id: project, start: from, end: to })
}

function given(fields: Readonly<Record<string, string | undefined>>): Filter {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

const pathOf = (id: string) => `/api/dead-letters/${encodeURIComponent(id)}`

/** Codes and messages may come from anyone: a terminal must not interpret them. */
function say(line: string): void {
  console.log(line.replace(/[^\P{C}\n]/gu, '\uFFFD'))
}

async function list(api: OperatorApi, { status = 'open', limit = '50', ...values }: Values): Promise<void> {
  const query = new URLSearchParams({ ...filterOf(values), status, limit })
  const path = `/api/dead-letters?${query.toString()}`
  const { data, total } = await callApi<{ data: DeadLetter[]; total: number }>(api, 'GET', path)
  for (const { id, dead_at, status: now, topic, code, project_id, message } of data)
    say([dead_at, id, now, topic, code, project_id ?? '-', JSON.stringify(message)].join('  '))
  console.log(`${data.length} of ${total}`)
}

async function show(api: OperatorApi, id: string): Promise<void> {
  say(JSON.stringify(await callApi<DeadLetter>(api, 'GET', pathOf(id)), null, 2))
}

async function count(api: OperatorApi, filter: Filter): Promise<void> {
  const query = new URLSearchParams({ ...filter, status: 'open', limit: '1' }).toString()
  const { total } = await callApi<{ total: number }>(api, 'GET', `/api/dead-letters?${query}`)
  console.log(`${total} open`)
}

/** Returns the number of failures. */
async function doEach(api: OperatorApi, ids: readonly string[], { verb, done, body }: Deed): Promise<number> {
  let failures = 0
  for (const id of ids) {
    try {
      await callApi(api, 'POST', `${pathOf(id)}/${verb}`, verb === 'drop' ? body : undefined)
      console.log(`${id} ${done}`)
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error
      failures += 1
      console.error(`${id}: ${error.message}`)
    }
  }
  return failures
}

/**
 * Returns the number of failures. Each round starts after the previous one, so letters that cannot be sent do
 * not block others. A letter that fails again is a new one, created after the start, and is not sent again.
 */
async function doAll(api: OperatorApi, filter: Filter, { verb, done, body }: Deed): Promise<number> {
  const which = { end: new Date().toISOString(), ...filter, ...body }
  let [total, failures] = [0, 0]
  for (let after: string | null | undefined; after !== null;) {
    const path = `/api/dead-letters/${verb}`
    const round = await callApi<Round>(api, 'POST', path, { ...which, ...given({ after }) })
    total += round.redriven ?? round.dropped ?? 0
    failures += round.failed.length
    for (const { id, detail } of round.failed) console.error(`${id}: ${detail}`)
    // The last round only finds that none is left.
    if (round.next !== null || after === undefined) console.log(`${total} ${done}`)
    after = round.next
  }
  return failures
}

function deedOf(verb: Deed['verb'], { reason }: Values): Deed {
  if (verb === 'redrive') return { verb, done: 'sent again', body: {} }
  if (reason === undefined) throw new CannotStart(`--reason is needed\n\n${usage}`)
  return { verb, done: 'dropped', body: { reason } }
}

async function run(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const [word = '', id, another] = positionals
  const api = await findApi(values.state, process.env)
  if (word === 'list' && id === undefined) return list(api, values)
  if (word === 'show' && id !== undefined && another === undefined) return show(api, id)
  if (word === 'list' || word === 'show') throw new CannotStart(`${word} takes something else\n\n${usage}`)
  const verb = word === 'drop' ? 'drop' : 'redrive'
  const ids = word === verb ? positionals.slice(1) : positionals
  const filter = filterOf(values)
  if (ids.length === 0 && values['dry-run'] === true) return count(api, filter)
  const deed = deedOf(verb, values)
  // Sending all again repairs; dropping all is more likely a mistake.
  if (verb === 'drop' && ids.length === 0 && Object.keys(filter).length === 0)
    throw new CannotStart(`drop: say which, by ID or by a filter\n\n${usage}`)
  const failures = ids.length > 0 ? await doEach(api, ids, deed) : await doAll(api, filter, deed)
  if (failures > 0) process.exitCode = 1
}

await runCommand(run)
