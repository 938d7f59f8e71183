import { isMainThread, threadId, type MessagePort } from 'node:worker_threads'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { parseBody, readCall, type Usage } from '../scoring/call-text.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { makeScorer } from '../scoring/custom/parse-scorers.ts'
import type { ScorerEntry } from '../scoring/custom/scorer-entry.ts'
import type { FailAt } from '../steps/choose-scorers.ts'
import type { NamedVerdict } from '../steps/named-verdict.ts'
import { runDetectors } from '../steps/run-detectors.ts'
import { lowerOwnPriority } from './lower-priority.ts'

/** A call to be read in a thread: everything that it needs, as plain data. */
export interface ThreadTask {
  builtIn: readonly BuiltInScorer[]
  custom: readonly ScorerEntry[]
  failAt: FailAt | undefined
  request: string | null
  response: string | null
  usage: Usage
  /** Takes a ThreadReport for each verdict as soon as it stands: what is finished when the time is up counts. */
  port: MessagePort
}

/**
 * First the thread that begins, and the microseconds of processor that it has taken before; then verdicts.
 * `done` is the last one: what a thread sends and what it returns arrive in no order.
 */
export type ThreadReport =
  | { threadId: number; beganUs: number }
  | { found: NamedVerdict; seconds: number; defect: Error | undefined }
  | 'done'

if (!isMainThread) lowerOwnPriority()

/** Compiled patterns are kept: an entry rarely changes, and compiling a long list takes longer than most calls. */
const compiled = new Map<string, CustomScorer>()
const maxCompiled = 1_000

/** What a thread of the pool runs. */
export async function detectInThread({ builtIn, custom, failAt, port, ...call }: ThreadTask): Promise<void> {
  const report = (message: ThreadReport) => port.postMessage(message)
  const { user, system } = process.threadCpuUsage()
  report({ threadId, beganUs: user + system })
  const bodyOf = (json: string | null) => (json === null ? null : parseBody(json))
  const read = readCall(bodyOf(call.request), bodyOf(call.response), call.usage)
  const chosen = { builtIn, custom: custom.map(compileOnce), failAt }
  await runDetectors(
    chosen,
    read,
    () => Promise.resolve(),
    (found, seconds, defect) => report({ found, seconds, defect }),
  )
  report('done')
}

function compileOnce(entry: ScorerEntry): CustomScorer {
  const key = JSON.stringify(entry)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const made = makeScorer(entry)
  if (!made.ok) throw new Error(`${entry.name}: ${made.reason}`)
  if (compiled.size >= maxCompiled) compiled.clear()
  compiled.set(key, made.scorer)
  return made.scorer
}
