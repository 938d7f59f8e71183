import { setTimeout as sleep } from 'node:timers/promises'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { memoryOfComponents, type PipelineMeter } from './pipeline-meter.ts'
import type { Pipeline } from './start-pipeline.ts'
import { until } from './until.ts'

/**
 * Keeps this many calls between sending and scores, so that the slowest part sets the pace. Resolves when the
 * last is scored, with the pace while the number was constant.
 */
export async function holdInFlight(
  pipeline: Pipeline,
  meter: PipelineMeter,
  { inFlight, seconds }: { inFlight: number; seconds: number },
): Promise<{ callsPerS: number }> {
  const from = await meter.scored()
  let sent = 0
  let [scored, firstScored] = [0, 0]
  const startMs = performance.now()
  const endMs = startMs + seconds * 1_000
  // The first wave fills the parts one after the other and is not measured.
  const settledMs = startMs + seconds * 250
  let settledAtMs = 0
  while (performance.now() < endMs) {
    scored = (await meter.scored()) - from
    if (settledAtMs === 0 && performance.now() > settledMs)
      [firstScored, settledAtMs] = [scored, performance.now()]
    const missing = inFlight - (sent - scored)
    if (missing > 0) pipeline.call(missing)
    sent += Math.max(0, missing)
    await sleep(100)
  }
  const callsPerS = ((scored - firstScored) / (performance.now() - settledAtMs)) * 1_000
  await until(
    async () => (await meter.scored()) - from >= sent,
    300_000,
    async () => `${(await meter.scored()) - from} of ${sent} scored`,
  )
  return { callsPerS }
}

export interface HeldRate {
  /** From answer to readable scores of every call, sorted. */
  latenciesMs: number[]
  /** Maximum of calls between answer and scores, in the first and second half of the time. */
  maxInFlight: [number, number]
  memory: Record<string, { 'resident MB': number; 'grew by MB': number }>
}

const tickMs = 20

/** Calls at a constant rate, regardless of answers. Resolves when all are scored. */
export async function holdRate(
  pipeline: Pipeline,
  { rate, minutes }: { rate: number; minutes: number },
): Promise<HeldRate> {
  const total = Math.round(rate * minutes * 60)
  const watch = watchScores(pipeline)
  const samples: Record<string, number>[] = []
  const maxInFlight: [number, number] = [0, 0]
  const startMs = performance.now()
  let sent = 0
  while (watch.latenciesMs.length < total) {
    const elapsedMs = performance.now() - startMs
    const due = Math.min(total, Math.floor((elapsedMs / 1_000) * rate)) - sent
    if (due > 0) pipeline.call(due)
    sent += Math.max(0, due)
    await watch.look()
    const half = sent < total / 2 ? 0 : 1
    maxInFlight[half] = Math.max(maxInFlight[half], watch.waiting())
    if (sent < total && samples.length < (elapsedMs / (minutes * 60_000)) * 40)
      samples.push(memoryOfComponents(pipeline))
    if (elapsedMs > minutes * 60_000 + 300_000)
      throw new Error(`${watch.latenciesMs.length} of ${total} scored`)
    await sleep(tickMs)
  }
  return { latenciesMs: watch.latenciesMs.sort((a, b) => a - b), maxInFlight, memory: growthOf(samples) }
}

/** Polls which answered calls have scores, as a reader would see it, to 20 ms. */
function watchScores({ answered, database, stack }: Pipeline) {
  const projectId = idToUuid(stack.projectId)
  let known = answered.length
  const open = new Map<string, number>()
  const latenciesMs: number[] = []
  return {
    latenciesMs,
    waiting: () => open.size,
    async look() {
      for (; known < answered.length; known++) {
        const call = answered[known]
        if (call !== undefined) open.set(call.id, call.atMs)
      }
      if (open.size === 0) return
      const { rows } = await database.query<{ request_id: string }>(
        'select request_id from request_verdicts where project_id = $1 and request_id = any ($2::uuid[])',
        [projectId, [...open.keys()].map(idToUuid)],
      )
      const nowMs = performance.timeOrigin + performance.now()
      for (const { request_id } of rows) {
        const id = idFromUuid('request', request_id)
        latenciesMs.push(nowMs - (open.get(id) ?? NaN))
        open.delete(id)
      }
    },
  }
}

/** Memory in the last quarter, and its growth since the second. In the first, caches and heaps fill. */
function growthOf(samples: readonly Record<string, number>[]): HeldRate['memory'] {
  const quarter = Math.floor(samples.length / 4)
  const mean = (part: string, from: number) =>
    samples.slice(from, from + quarter).reduce((sum, sample) => sum + (sample[part] ?? 0), 0) / quarter
  return Object.fromEntries(
    Object.keys(samples[0] ?? {}).map((part) => {
      const last = mean(part, samples.length - quarter)
      const grown = last - mean(part, quarter)
      return [part, { 'resident MB': Math.round(last), 'grew by MB': Math.round(grown) }]
    }),
  )
}
