import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PermanentError } from '#runtime/errors.ts'
import type { Probe } from '../probes/probe.ts'
import { attemptRequestId, type PlannedAttempt } from '../steps/plan-attempts.ts'
import type { Target } from '../targets/target.ts'
import { recordedAnswer } from '../targets/template-target.ts'
import { judgesOf } from './categories.ts'
import { parseGarak } from './parse-garak.ts'
import { parsePromptfooResults } from './parse-promptfoo.ts'
import type { RecordedEntry } from './recorded-entry.ts'

/** A run over another tool's prompts and answers: planned, recorded and judged, with nothing sent. */
export interface RecordedRun {
  planned: PlannedAttempt[]
  origins: object[]
  probes: Map<string, Probe>
  target: Target
  digest: string
}

/** Throws PermanentError with line and reason for an invalid report. */
export function openRecorded(
  runId: string,
  format: 'garak' | 'promptfoo',
  file: string | undefined,
): RecordedRun {
  if (file === undefined) throw new PermanentError('NO_TARGET', 'REDTEAM_RECORDED_FILE is not set')
  const text = readFileSync(file, 'utf8')
  const parsed = format === 'garak' ? parseGarak(text) : parsePromptfooResults(text)
  if (!parsed.ok)
    throw new PermanentError(
      'NO_TARGET',
      parsed.problems.map(({ line, reason }) => `${file}:${line}: ${reason}`).join('\n'),
    )
  const entries = new Map<string, RecordedEntry>()
  const planned = parsed.entries.map((entry, number): PlannedAttempt => {
    const { scorer, judged_by } = judgesOf(entry.category)
    const requestId = attemptRequestId(runId, [entry.probe, 'recorded', String(number)])
    entries.set(requestId, entry)
    return {
      ...{ number, requestId, category: entry.category, scorer, judgedBy: judged_by },
      ...{ probeId: entry.probe, transformation: 'plain', repeat: 0, earlierTurns: 0 },
    }
  })
  return {
    planned,
    origins: parsed.entries.map(({ origin }) => origin),
    probes: new Map(parsed.entries.map((entry) => [entry.probe, probeOf(entry)])),
    target: recordedTarget(entries),
    digest: createHash('sha256').update(text).digest('hex'),
  }
}

function probeOf({ probe, category }: RecordedEntry): Probe {
  const source = { source: 'a report', licence: 'of that report' }
  return { id: probe, category, ...judgesOf(category), ...source, turns: ['recorded'] }
}

function recordedTarget(entries: ReadonlyMap<string, RecordedEntry>): Target {
  return {
    takesSurroundings: true,
    ask({ session }) {
      const entry = entries.get(session)
      const messages = (entry?.turns ?? []).map(({ role, text }) => ({ role, content: text }))
      const common = { requestBody: { messages }, statusCode: null, latencyMs: 0 }
      const text = entry?.output ?? null
      return Promise.resolve(
        text === null
          ? { kind: 'failed', ...common, responseBody: null, error: 'NO_OUTPUT' }
          : { kind: 'answered', ...common, responseBody: recordedAnswer(text), text },
      )
    },
    close: () => Promise.resolve(),
  }
}
