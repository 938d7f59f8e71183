import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { retryRequest, callApi, findApi, type OperatorApi } from './stack/operator-api.ts'
import { readOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/erase --project ID (--request ID | --session ID | --user ID | --everything) [--detach] [--state DIR]
scripts/erase --status [--project ID] [--state DIR]

  erases what was recorded so far of a request, session, user or project, and waits until it is done

  --detach         do not wait
  --status         list erasures, newest first
  --state DIR      the running stack (.sluice); PUBLIC_BASE_URL and INTERNAL_API_SECRET take its place
`

interface Erasure {
  id: string
  project_id: string
  scope: string
  subject: string | null
  status: string
  erased_calls: number
  requested_at: string
  erased_at: string | null
  kept_in_kafka_until: string
}

const pollMs = 1_000

function readArguments() {
  const { values, positionals } = readOptions(usage, {
    texts: ['project', 'request', 'session', 'user'],
    flags: ['everything', 'detach', 'status'],
  })
  const [unexpected] = positionals
  if (unexpected !== undefined) throw new CannotStart(`${unexpected} is not expected\n\n${usage}`)
  return values
}
type Arguments = ReturnType<typeof readArguments>

function wantedOf({ request, session, user, everything }: Arguments): { scope: string; subject?: string } {
  const given = Object.entries({ request, session, user }).flatMap(([scope, subject]) =>
    subject === undefined ? [] : [{ scope, subject }],
  )
  const wanted = [...given, ...(everything === true ? [{ scope: 'project' }] : [])]
  const [only] = wanted
  if (only === undefined || wanted.length > 1)
    throw new CannotStart(`say one of --request, --session, --user, --everything\n\n${usage}`)
  return only
}

function describe({ id, scope, subject, status, erased_calls, kept_in_kafka_until }: Erasure): string {
  const what = subject === null ? scope : `${scope} ${subject}`
  return `${id}  ${what}  ${status}, ${erased_calls} calls; topics may hold copies, which are dropped, until ${kept_in_kafka_until}`
}

async function showStatus(api: OperatorApi, project: string | undefined): Promise<void> {
  const query = new URLSearchParams({
    limit: '200',
    ...(project === undefined ? {} : { project_id: project }),
  })
  const { data } = await callApi<{ data: Erasure[] }>(api, 'GET', `/api/erasures?${query.toString()}`)
  for (const erasure of data) console.log(describe(erasure))
}

async function run(): Promise<void> {
  const values = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const api = await findApi(values.state, process.env)
  if (values.status === true) {
    await showStatus(api, values.project)
    return
  }
  if (values.project === undefined) throw new CannotStart(`--project is missing\n\n${usage}`)
  const path = `/api/erasures?project_id=${encodeURIComponent(values.project)}`
  let erasure = await callApi<Erasure>(api, 'POST', path, wantedOf(values))
  while (values.detach !== true && erasure.status !== 'erased') {
    await sleep(pollMs)
    erasure = await retryRequest<Erasure>(api, `/api/erasures/${erasure.id}`)
  }
  console.log(describe(erasure))
}

await runCommand(run)
