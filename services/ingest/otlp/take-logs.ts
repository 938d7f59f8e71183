import { callIdOf } from '#capture/otel/span-record.ts'
import { readLogs, type CallLog } from '#capture/otel/read-logs.ts'
import { waitingLogs } from '#capture/otel/waiting-call.ts'
import { Problem } from '#http/problem.ts'
import { orThrow } from '../log-calls.ts'
import type { AddOutcome } from '../stores/waiting-call-store.ts'
import { logRecordsCounter } from '../waiting-metrics.ts'
import type { OtlpOptions, Take } from './otlp-export.ts'

const reasons: Readonly<Record<Exclude<AddOutcome, 'waiting'>, string | null>> = {
  // Sent again it would be no less late.
  late: null,
  full: 'as many words as may wait for their spans do',
}

/** Joins log records that hold words of a model's call with its span, which may come later. */
export function createTakeLogs({ waitingCalls, recordBytes, metrics }: OtlpOptions): Take {
  const counter = logRecordsCounter(metrics)
  return async ({ request, principal, reserveBodyBudget }) => {
    const { project } = principal.key
    const { projectId } = project
    const faults: string[] = []
    const logsOf = new Map<string, CallLog[]>()
    for (const read of readLogs(request)) {
      if (read === null) counter.inc({ outcome: 'other' })
      else if ('fault' in read) faults.push(read.fault)
      else {
        const id = callIdOf({ projectId, ...read }, 0)
        const logs = logsOf.get(id) ?? []
        logs.push(read.log)
        logsOf.set(id, logs)
      }
    }
    counter.inc({ outcome: 'unreadable' }, faults.length)
    const count = (ids: Iterable<string>) =>
      [...ids].reduce((sum, id) => sum + (logsOf.get(id)?.length ?? 0), 0)
    if (!waitingCalls.takesOf(project)) {
      counter.inc({ outcome: 'not_kept' }, count(logsOf.keys()))
      return faults
    }
    reserveBodyBudget(logsOf.size * recordBytes)
    const parts = new Map([...logsOf].map(([id, logs]) => [id, waitingLogs(logs)]))
    const outcomes = await orThrow(() => waitingCalls.add(projectId, parts))
    for (const outcome of ['waiting', 'late', 'full'] as const) {
      const ids = [...outcomes].filter(([, one]) => one === outcome).map(([id]) => id)
      counter.inc({ outcome }, count(ids))
      const reason = outcome === 'waiting' ? null : reasons[outcome]
      if (reason !== null) faults.push(...Array.from({ length: count(ids) }, () => reason))
    }
    if (outcomes.size > 0 && [...outcomes.values()].every((outcome) => outcome === 'full'))
      throw tooManyWait(waitingCalls.waitMs)
    return faults
  }
}

function tooManyWait(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return new Problem(429, 'WAITING_CALLS_FULL', `${reasons.full}; they wait at most ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
