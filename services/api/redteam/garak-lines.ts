import { tagOfCategory } from '#schemas/owasp-editions.ts'
import type { OwaspCategory } from '#schemas/verdicts.ts'
import type { AttemptOrigin, RedteamAttempt } from '../stores/redteam-attempts.ts'
import type { RedteamReport } from './build-report.ts'

/** The texts of an attempt; null: no longer kept. */
export interface SaidInAttempt {
  turns: readonly { role: string; text: string }[]
  output: string | null
}

/**
 * An attempt in the form of garak's report.jsonl. Its detectors are the judging scorers: 1 is a hit, null was
 * not judged.
 */
export function garakAttempt(
  attempt: RedteamAttempt,
  origin: AttemptOrigin,
  said: SaidInAttempt | null,
  runId: string,
): object {
  const { judged_by, failed_by, verdict } = attempt
  const own = Object.fromEntries(
    judged_by.map((scorer) => {
      const hit = failed_by?.includes(scorer) === true
      return [`sluice.${scorer}`, [hit ? 1 : verdict === 'pass' ? 0 : null]]
    }),
  )
  const { detector_results: theirs, ...kept } = origin ?? {}
  const turns = (said?.turns ?? []).map(({ role, text }) => ({ role, content: messageOf(text) }))
  const outputs = said?.output === null || said === null ? [] : [messageOf(said.output)]
  return {
    entry_type: 'attempt',
    uuid: attempt.request_id,
    seq: attempt.number,
    status: 2,
    probe_classname: `sluice.${attempt.probe_id}`,
    probe_params: { transformation: attempt.transformation, repeat: attempt.repeat },
    targets: [],
    goal: null,
    ...kept,
    prompt: said === null ? null : { turns, notes: {} },
    outputs,
    detector_results: { ...(typeof theirs === 'object' ? theirs : {}), ...own },
    notes: {
      run_id: runId,
      request_id: attempt.request_id,
      tags: [tagOfCategory(attempt.category as OwaspCategory)],
    },
    conversations:
      said === null
        ? []
        : [{ turns: [...turns, ...outputs.map((content) => ({ role: 'assistant', content }))], notes: {} }],
    reverse_translation_outputs: [],
  }
}

/** The lines before the attempts. */
export function garakHead({ run }: RedteamReport): object[] {
  return [
    { entry_type: 'init', garak_version: null, generator: 'sluice', start_time: run.started_at, run: run.id },
  ]
}

/** The lines after them: the result of each probe. */
export function garakTail({ run, probes }: RedteamReport): object[] {
  const evals = probes.map(({ probe_id, pass_count, fail_count, unscored_count, total }) => ({
    entry_type: 'eval',
    probe: `sluice.${probe_id}`,
    detector: 'sluice.verdict',
    passed: pass_count,
    fails: fail_count,
    nones: unscored_count,
    total_evaluated: pass_count + fail_count,
    total_processed: total,
  }))
  return [...evals, { entry_type: 'completion', end_time: run.finished_at, run: run.id }]
}

function messageOf(text: string): object {
  return { text, lang: null, data_path: null, data_type: null, data_checksum: null, notes: {} }
}
