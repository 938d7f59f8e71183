import { isMainThread, threadId, type MessagePort } from 'node:worker_threads'
import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { parseBody, readCall, type Call } from '#detectors/call-text.ts'
import type { CustomScorer, ScorerEntry } from '../scoring/custom/custom-scorer.ts'
import { makeScorer } from '../scoring/custom/parse-scorers.ts'
import type { FailAt } from '../steps/choose-scorers.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { runDetectors } from '../steps/run-detectors.ts'
import { lowerOwnPriority } from './lower-priority.ts'

/** A custom scorer as plain data: the thread compiles it. */
export type CustomTask = Pick<CustomScorer, 'version' | 'isOfProject'> & { entry: ScorerEntry }

/** A call to read in a thread, as plain data. */
export interface ThreadTask {
  builtIn: readonly BuiltInScorer[]
  custom: readonly CustomTask[]
  failAt: FailAt | undefined
  request: string | null
  response: string | null
  usage: Call['usage']
  /** Receives a ThreadReport per verdict as soon as it is known: those sent before a timeout count. */
  port: MessagePort
}

/**
 * First the thread's start with the CPU microseconds that it has used so far, then verdicts, then `done`.
 * `done` is needed as messages and the return value arrive in no fixed order.
 */
export type ThreadReport =
  | { threadId: number; beganUs: number }
  | { found: NamedVerdict; seconds: number; defect: Error | undefined }
  | 'done'

if (!isMainThread) lowerOwnPriority()

/** Cache of compiled patterns: entries rarely change, and long lists take longer than most calls. */
const compiled = new Map<string, CustomScorer>()
const maxCompiled = 1_000
/** RE2 instructions, at 240 bytes each 48 MB of the thread's 400. */
const maxSteps = 200_000
let steps = 0

/** The worker function of the pool. */
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

function compileOnce({ entry, version, isOfProject }: CustomTask): CustomScorer {
  return { ...compiledOf(entry), version, isOfProject }
}

function compiledOf(entry: ScorerEntry): CustomScorer {
  const key = JSON.stringify(entry)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const made = makeScorer(entry)
  if (!made.ok) throw new Error(`${entry.name}: ${made.reason}`)
  steps += made.scorer.steps
  if (compiled.size >= maxCompiled || steps > maxSteps) {
    compiled.clear()
    steps = made.scorer.steps
  }
  compiled.set(key, made.scorer)
  return made.scorer
}
