import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { checkThreshold } from './stack/check-threshold.ts'
import { findStore } from './stack/find-store.ts'
import { overrideEnvironment } from './stack/override-environment.ts'
import { retryRequest, callApi, findApi, requestApi, type OperatorApi } from './stack/operator-api.ts'
import { createProgress } from './stack/progress.ts'
import {
  checkArguments,
  isFile,
  numberOf,
  readArguments,
  targetOf,
  usage,
  wordsOf,
  type Values,
} from './stack/redteam-arguments.ts'
import { runCommand } from './stack/run-command.ts'

interface Run {
  id: string
  target: { kind: string; url?: string }
  status: string
  problem: string | null
  stopped_by: string | null
  planned_count: number | null
  sent_count: number
  total_probes: number
  pass_count: number
  fail_count: number
  unscored_count: number
  critical_count: number
}

async function order(api: OperatorApi, values: Values, target: object): Promise<Run> {
  if (values.project === undefined || values.agent === undefined)
    throw new CannotStart(`--project and --agent are needed\n\n${usage}`)
  const transformations = wordsOf(values.transformations)
  return callApi<Run>(api, 'POST', '/api/redteam-runs', {
    project_id: values.project,
    agent_name: values.agent,
    target,
    runner: 'cli',
    ...(values.seed === undefined ? {} : { seed: values.seed }),
    budget_usd: numberOf('budget-usd', values['budget-usd']) ?? null,
    options: {
      probes: wordsOf(values.probes).filter((word) => !isFile(word)),
      ...(transformations.length === 0 ? {} : { transformations }),
      repeats: numberOf('repeats', values.repeats),
      limit: numberOf('limit', values.limit),
      concurrency: numberOf('concurrency', values.concurrency),
      requests_per_minute: numberOf('requests-per-minute', values['requests-per-minute']),
      alert: values.alert === true,
    },
  })
}

/** Starts the process that executes the run. It gets credentials only through its environment. */
async function startRunner(
  api: OperatorApi,
  run: Run,
  values: Values,
  recordedFile?: string,
): Promise<ChildProcess> {
  const env = await findStore(values.state, process.env)
  const { url } = run.target
  const files = wordsOf(values.probes).filter(isFile)
  const main = join(import.meta.dirname, '..', 'services', 'redteam', 'main.ts')
  return spawn(process.execPath, [main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: overrideEnvironment(
      { LOG_LEVEL: 'warn', ...env },
      {
        OPS_PORT: '0',
        API_BACKEND_URL: api.baseUrl,
        INTERNAL_API_SECRET: api.secret,
        REDTEAM_RUN_ID: run.id,
        ...(files.length === 0 ? {} : { REDTEAM_PROBES: files.join(',') }),
        ...(values.command === undefined ? {} : { REDTEAM_TARGET_COMMAND: values.command }),
        ...(values.key === undefined || url === undefined
          ? {}
          : { REDTEAM_TARGET_KEYS: `${new URL(url).hostname}=${values.key}` }),
        ...(recordedFile === undefined ? {} : { REDTEAM_RECORDED_FILE: recordedFile }),
      },
    ),
  })
}

const over = ['done', 'cancelled', 'failed']
const pathOf = (id: string) => `/api/redteam-runs/${encodeURIComponent(id)}`

/** Shows progress until the run is over or its process has exited. No attacks continue after that. */
async function watch(api: OperatorApi, id: string, runner: ChildProcess): Promise<Run> {
  const progress = createProgress(process.stdout)
  const gone = once(runner, 'exit').then(() => true)
  for (;;) {
    const isGone = await Promise.race([gone, sleep(500).then(() => false)])
    const run = await retryRequest<Run>(api, pathOf(id)).catch(async (error: unknown) => {
      runner.kill('SIGTERM')
      await gone
      progress.end()
      throw new CannotStart(`${messageOf(error)}; go on with scripts/redteam resume ${id}`)
    })
    const { status, sent_count, total_probes, planned_count } = run
    const isJudging = status === 'scoring' || status === 'done'
    progress.show(
      isJudging ? 'judged' : 'sent',
      isJudging ? total_probes : sent_count,
      status === 'done' ? total_probes : planned_count,
    )
    if (!isGone && !over.includes(status)) continue
    progress.end()
    if (!over.includes(status)) {
      const why = run.problem === null ? 'the run was interrupted' : `the run stands still: ${run.problem}`
      throw new CannotStart(`${why}; go on with scripts/redteam resume ${id}`)
    }
    await gone
    return run
  }
}

async function conclude(api: OperatorApi, run: Run, values: Values): Promise<void> {
  const { total_probes, pass_count, fail_count, unscored_count, critical_count } = run
  console.log(
    `${run.id} ${run.status}${run.stopped_by === null ? '' : ` (stopped by ${run.stopped_by})`}: ${total_probes} attempts, ${fail_count} failed (${critical_count} critical), ${pass_count} passed, ${unscored_count} not judged`,
  )
  if (run.problem !== null) console.log(run.problem)
  if (values.out !== undefined) await writeReport(api, run.id, values)
  const threshold = numberOf('fail-over', values['fail-over'])
  const { isKept, problem } =
    threshold === undefined ? { isKept: true, problem: undefined } : checkThreshold(run, threshold)
  if (problem !== undefined) console.error(`--fail-over: ${problem}`)
  if (run.status !== 'done' || !isKept) process.exitCode = 1
}

async function writeReport(api: OperatorApi, id: string, { format = 'json', out }: Values): Promise<void> {
  const path = `${pathOf(id)}/report?format=${encodeURIComponent(format)}`
  const { status, text } = await requestApi(api, 'GET', path)
  if (status >= 400) throw new CannotStart(`${status}: ${text}`)
  if (out === undefined) console.log(text)
  else await writeFile(out, text)
}

async function run(): Promise<void> {
  const { values, positionals } = readArguments()
  const [verb, subject, recordedFile] = positionals
  if (values.help === true) {
    console.log(usage)
    return
  }
  const api = await findApi(values.state, process.env)
  if (verb === 'run' || (verb === 'import' && subject !== undefined)) {
    const file = verb === 'import' ? subject : undefined
    await checkArguments(values, file)
    const target = file === undefined ? await targetOf(values) : { kind: 'recorded', format: values.format }
    const ordered = await order(api, values, target)
    console.log(ordered.id)
    return carryOut(api, ordered, values, file)
  }
  if (subject === undefined)
    throw new CannotStart(`expected run, import, resume, cancel or report\n\n${usage}`)
  if (verb === 'report') return writeReport(api, subject, values)
  if (verb === 'cancel') {
    await callApi(api, 'POST', `${pathOf(subject)}/cancel`)
    return
  }
  if (verb !== 'resume') throw new CannotStart(`there is no ${verb ?? ''}\n\n${usage}`)
  await checkArguments(values, recordedFile)
  const found = await callApi<Run>(api, 'GET', pathOf(subject))
  const { kind } = found.target
  if (
    (kind === 'command' && values.command === undefined) ||
    (kind === 'recorded' && recordedFile === undefined)
  )
    throw new CannotStart(
      `${subject} goes on with ${kind === 'command' ? '--command' : 'FILE'}: it is not stored`,
    )
  return carryOut(api, found, values, recordedFile)
}

async function carryOut(api: OperatorApi, run: Run, values: Values, recordedFile?: string): Promise<void> {
  const runner = await startRunner(api, run, values, recordedFile)
  // It would go on attacking unobserved. Ctrl-C reaches it directly; here we only wait for it.
  process.once('SIGTERM', () => runner.kill('SIGTERM'))
  process.once('SIGINT', () => undefined)
  // For an import, the format is that of the file to read.
  const isForeign = recordedFile !== undefined && values.format !== 'garak'
  const asked = isForeign ? { ...values, format: 'json' } : values
  return conclude(api, await watch(api, run.id, runner), asked)
}

await runCommand(run)
