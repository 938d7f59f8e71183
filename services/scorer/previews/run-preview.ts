import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Call } from '#detectors/call-text.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import type { CallBudget } from '../call-budget.ts'
import { isOwnCall } from '../judge/own-calls.ts'
import { makeProjectScorer } from '../scoring/custom/project-scorers.ts'
import { judgeCriteria } from '../steps/judge-criteria.ts'
import { openCall, type OpenableJob } from '../steps/open-call.ts'
import { isDefect } from '../steps/run-detectors.ts'
import type { ScoringTools } from '../steps/run-scorers.ts'
import type { Preview, PreviewCall, PreviewStore } from '../stores/preview-store.ts'
import type { ProjectSettingsStore } from '../stores/project-settings-store.ts'
import { matchedTexts } from './matched-texts.ts'
import { createPreviewCount, type PreviewResult } from './preview-count.ts'

export interface PreviewTools extends Pick<ScoringTools, 'judge' | 'judgeTextLimit' | 'detect'> {
  store: PreviewStore
  settings: ProjectSettingsStore
  sealer: Sealer
  memoryBudget: CallBudget
  markKey: string | null
  clock: Clock
}

/** Looked at per preview. A judge costs money and seconds a call. */
const maxCalls = { patterns: 2_000, criterion: 200 }
const atOnce = { patterns: 1, criterion: 4 }
/** Three minutes: the person waits for it. */
const maxMs = 180_000

/**
 * What a scorer would find in a project's last calls. Writes no score. Within the limits of replays: live
 * jobs go first for threads, memory and the judge. Throws PermanentError `PREVIEW_IMPOSSIBLE`.
 */
export async function runPreview(
  preview: Preview,
  tools: PreviewTools,
  signal: AbortSignal,
): Promise<PreviewResult> {
  const look = await createLook(preview, tools)
  const calls = await tools.store.callsOf(preview, maxCalls[look.kind])
  const count = createPreviewCount(calls.length)
  const over = new AbortController()
  const timeUp = new AbortController()
  void tools.clock.sleep(maxMs, over.signal).then(() => timeUp.abort(new Error('time is up')))
  const until = AbortSignal.any([signal, timeUp.signal])
  const rest = calls.values()
  const work = async () => {
    for (const call of rest) {
      if (until.aborted || count.isStopped()) return
      await lookAt(call, preview, tools, look, count, until)
    }
  }
  try {
    // Waits for all, even if one fails: none may continue behind a finished preview.
    const workers = await Promise.allSettled(Array.from({ length: atOnce[look.kind] }, work))
    signal.throwIfAborted()
    const failed = workers.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
    if (failed !== undefined && !timeUp.signal.aborted) throw failed.reason
    return count.result(timeUp.signal.aborted)
  } finally {
    over.abort()
  }
}

interface Look {
  kind: keyof typeof maxCalls
  at(call: Call, signal: AbortSignal): Promise<NamedVerdict | undefined>
  matched(call: Call, verdict: NamedVerdict): ReturnType<typeof matchedTexts>
}

async function createLook({ projectId, scorer }: Preview, tools: PreviewTools): Promise<Look> {
  const who = { projectId, lane: 'replay' } as const
  const made = makeProjectScorer(scorer)
  if ('problem' in made) throw new PermanentError('PREVIEW_IMPOSSIBLE', made.problem)
  if ('find' in made)
    return {
      kind: 'patterns',
      at: async (call, signal) => (await tools.detect({ builtIn: [], custom: [made] }, call, who, signal))[0],
      matched: (call, { verdict }) => matchedTexts(call, verdict.evidence, made),
    }
  const { judgeMode, failAt } = await tools.settings.of(projectId)
  if (tools.judge === null) throw new PermanentError('PREVIEW_IMPOSSIBLE', 'no judge is configured')
  if (judgeMode === 'never')
    throw new PermanentError('PREVIEW_IMPOSSIBLE', "the project's judge_mode is `never`")
  return {
    kind: 'criterion',
    at: async (call, signal) =>
      (await judgeCriteria([made], [], call, { ...who, judgeMode, failAt }, tools, signal))[0],
    matched: (call, { verdict }) => matchedTexts(call, verdict.evidence, null),
  }
}

async function lookAt(
  planned: PreviewCall,
  { projectId }: Preview,
  tools: PreviewTools,
  look: Look,
  count: ReturnType<typeof createPreviewCount>,
  signal: AbortSignal,
): Promise<void> {
  const { id, createdAt, expected } = planned
  const job = await tools.store.jobOf(projectId, planned)
  const opened = openOrNot(job, tools)
  if (typeof opened === 'string') {
    count.without(opened)
    return
  }
  const read = async () => {
    const call = readOrNot(opened)
    const isOwn = call !== undefined && isOwnCall(opened.metadata, call.request?.value, tools.markKey)
    const found = call === undefined || isOwn ? undefined : await look.at(call, signal)
    if (call === undefined || found === undefined) {
      count.without('reading')
      return
    }
    count.looked(found.verdict, expected, () => ({
      request_id: id,
      created_at: createdAt.toISOString(),
      score_value: found.verdict.value,
      rationale: found.verdict.rationale,
      expected,
      matches: look.matched(call, found),
    }))
  }
  await tools.memoryBudget.run(opened.heapBytes, read, signal, { projectId, lane: 'replay' })
}

type Readable = Exclude<ReturnType<typeof openCall>, { unreadable: unknown }> & { metadata: string | null }

function openOrNot(job: OpenableJob | undefined, tools: PreviewTools): Readable | 'bodies' | 'reading' {
  if (job === undefined || job.request_body === null) return 'bodies'
  try {
    const opened = openCall(job, tools.sealer, tools.memoryBudget.smallBytes)
    return 'unreadable' in opened ? 'reading' : { ...opened, metadata: job.metadata }
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    return 'reading'
  }
}

/** Undefined for a call whose shape makes reading throw, and for one that is no JSON. */
function readOrNot(opened: Readable): Call | undefined {
  try {
    return opened.read()
  } catch (error) {
    if (!isDefect(error) && !(error instanceof PermanentError)) throw error
    return undefined
  }
}
