import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { retryRequest, callApi, findApi, type OperatorApi } from './stack/operator-api.ts'
import { createProgress } from './stack/progress.ts'
import { readOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/replay --from TIME --to TIME [--project ID] [--scorers A,B] [--source postgres|kafka] [--alert]
               [--dry-run] [--state DIR]
scripts/replay watch|cancel|promote RUN
scripts/replay diff RUN [OTHER_RUN|live]

  scores calls of that time again, in a separate run that leaves the live scores unchanged

  --from, --to     calls made in this time (ISO 8601)
  --project ID     only this project
  --scorers A,B    only these scorers (default: those of each call's tier)
  --source kafka   calls as they were logged (default: from Postgres)
  --alert          raise events for failing scores
  --dry-run        only count the calls and estimate the cost
  --state DIR      the running stack (.sluice); PUBLIC_BASE_URL and INTERNAL_API_SECRET take its place

The run continues without this program; \`watch\` shows it again.
`

interface Run {
  id: string
  status: string
  calls_total: number
  calls_fed: number
  calls_scored: number
  problem: string | null
}

interface Estimate {
  run: Run | null
  calls: number
  calls_are_exact: boolean
  calls_without_bodies: number | null
  estimated_judge_usd: number | null
}

interface Diff {
  is_complete: boolean
  scorers: { scorer_name: string; compared: number; changed: number; average_change: number | null }[]
  examples: {
    request_id: string
    scorer_name: string
    before: { label: string | null; value: number | null }
    after: { label: string; value: number | null }
  }[]
}

function readArguments() {
  return readOptions(usage, {
    texts: ['from', 'to', 'project', 'scorers', 'source'],
    flags: ['alert', 'dry-run'],
  })
}

type Values = ReturnType<typeof readArguments>['values']

async function order(api: OperatorApi, values: Values): Promise<void> {
  const { from, to, project, scorers, source, alert } = values
  if (from === undefined || to === undefined) throw new CannotStart(`--from and --to are needed\n\n${usage}`)
  const isDry = values['dry-run'] === true
  const { run, ...estimate } = await callApi<Estimate>(api, 'POST', '/api/score-runs', {
    start: from,
    end: to,
    ...(project === undefined ? {} : { project_id: project }),
    ...(scorers === undefined ? {} : { scorers: scorers.split(',') }),
    ...(source === undefined ? {} : { source }),
    alert: alert === true,
    dry_run: isDry,
  })
  if (run !== null) console.log(run.id)
  const cost = estimate.estimated_judge_usd
  const about = estimate.calls_are_exact ? '' : 'about '
  const bare = estimate.calls_without_bodies
  const without = bare === null ? '' : `, ${bare} of them without bodies`
  const price = cost === null ? 'cost not known yet' : `about $${cost.toFixed(2)} by all scorers`
  console.log(`${about}${estimate.calls} calls${without}; the judge: ${price}`)
  if (run !== null) await watch(api, run.id)
}

/** Waits until the run is over; exits with 1 if it failed or someone else cancelled it. */
async function watch(api: OperatorApi, id: string, wanted = 'done'): Promise<void> {
  const progress = createProgress(process.stdout)
  for (;;) {
    await sleep(500)
    const run = await retryRequest<Run>(api, `/api/score-runs/${encodeURIComponent(id)}`)
    progress.show(run.status, run.calls_scored, Math.max(run.calls_total, run.calls_fed))
    if (!['done', 'promoted', 'cancelled', 'failed'].includes(run.status)) continue
    progress.end()
    if (run.problem !== null) console.log(run.problem)
    if (run.status !== wanted && (run.status === 'cancelled' || run.status === 'failed')) process.exitCode = 1
    return
  }
}

async function diff(api: OperatorApi, id: string, against = 'live'): Promise<void> {
  const path = `/api/score-runs/${encodeURIComponent(id)}/diff?against=${encodeURIComponent(against)}`
  const { scorers, examples, is_complete } = await callApi<Diff>(api, 'GET', path)
  console.table(
    scorers.map(({ scorer_name, compared, changed, average_change }) => ({
      scorer: scorer_name,
      compared,
      changed,
      'average change': average_change === null ? '' : average_change.toFixed(2),
    })),
  )
  const form = ({ label, value }: { label: string | null; value: number | null }) =>
    `${label ?? 'none'}${value === null ? '' : ` (${value})`}`
  for (const { request_id, scorer_name, before, after } of examples)
    console.log(`${request_id}  ${scorer_name}: ${form(before)} → ${form(after)}`)
  if (!is_complete) console.log('only the first 100,000 scores were compared')
}

async function run(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const api = await findApi(values.state, process.env)
  const [verb, id, against] = positionals
  if (verb === undefined) return order(api, values)
  if (id === undefined || !['watch', 'cancel', 'promote', 'diff'].includes(verb))
    throw new CannotStart(`expected watch, cancel, promote or diff, and a run\n\n${usage}`)
  if (verb === 'diff') return diff(api, id, against)
  if (verb !== 'watch') await callApi(api, 'POST', `/api/score-runs/${encodeURIComponent(id)}/${verb}`)
  return watch(api, id, verb === 'cancel' ? 'cancelled' : 'done')
}

await runCommand(run)
