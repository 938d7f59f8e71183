import { readLogs, type CallLog } from '#capture/otel/read-logs.ts'
import { callIdOf } from '#capture/otel/span-record.ts'
import { waitingLogs } from '#capture/otel/waiting-call.ts'
import { Problem } from '#http/problem.ts'
import { noLimits } from '#schemas/key-limits.ts'
import { orThrow } from '../log-calls.ts'
import { logRecordsCounter } from '../waiting-metrics.ts'
import type { OtlpOptions, Take } from './otlp-export.ts'

const noRoom = 'as many words as may wait for their spans do'

/** Joins log records that hold words of a model's call with its span, which may come later. */
export function createTakeLogs({ waitingCalls, recordBytes, metrics }: OtlpOptions): Take {
  const counter = logRecordsCounter(metrics)
  return async ({ request, principal, reserveBodyBudget }) => {
    const { project, limits = noLimits } = principal.key
    const { logsOf, faults, others } = readByCall(request, project.projectId)
    counter.inc({ outcome: 'other' }, others)
    counter.inc({ outcome: 'unreadable' }, faults.length)
    if (limits.capture !== 'full' || !waitingCalls.takesOf(project)) {
      counter.inc({ outcome: 'not_kept' }, [...logsOf.values()].flat().length)
      return faults
    }
    reserveBodyBudget(logsOf.size * recordBytes)
    const parts = new Map([...logsOf].map(([id, logs]) => [id, waitingLogs(logs)]))
    const outcomes = await orThrow(() => waitingCalls.add(project.projectId, parts))
    const counts = { waiting: 0, late: 0, full: 0 }
    for (const [id, outcome] of outcomes) counts[outcome] += logsOf.get(id)?.length ?? 0
    for (const outcome of ['waiting', 'late', 'full'] as const) counter.inc({ outcome }, counts[outcome])
    if (counts.full > 0 && counts.waiting + counts.late === 0) throw tooManyWait(waitingCalls.waitMs)
    return [...faults, ...Array.from({ length: counts.full }, () => noRoom)]
  }
}

interface LogsByCall {
  logsOf: Map<string, CallLog[]>
  faults: string[]
  others: number
}

function readByCall(request: unknown, projectId: string): LogsByCall {
  const read: LogsByCall = { logsOf: new Map(), faults: [], others: 0 }
  for (const one of readLogs(request)) {
    if (one === null) read.others += 1
    else if ('fault' in one) read.faults.push(one.fault)
    else {
      const id = callIdOf({ projectId, ...one }, 0)
      const logs = read.logsOf.get(id)
      if (logs === undefined) read.logsOf.set(id, [one.log])
      else logs.push(one.log)
    }
  }
  return read
}

function tooManyWait(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return new Problem(429, 'WAITING_CALLS_FULL', `${noRoom}; they wait at most ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}
