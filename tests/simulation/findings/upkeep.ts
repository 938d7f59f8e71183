import { idToUuid } from '#schemas/ids.ts'
import type { OpenErasure } from '#services/sink/stores/erase-calls.ts'
import {
  eraseEvidence,
  eraseNamesInCounters,
  eraseNamesInValues,
} from '#services/sink/stores/erase-findings.ts'
import { moveBetweenFindings } from '#services/sink/stores/finding-promotion.ts'
import type { ExchangedScore } from '#services/sink/stores/promotion-store.ts'
import { createSimClient, type FindingContext } from './finding-context.ts'
import { Aborted, type ScoreRow } from './finding-tables.ts'
import { exchangeRuns } from './upkeep-statements.ts'

/** One call names few rows: a step that takes longer does nothing. */
const maxRounds = 10

/** Promotions and erasures, with the real steps that move what findings count and keep. */
export function createUpkeep(context: FindingContext) {
  const { random, tables, expected, projectUuid, liveRunUuid, runId } = context
  const runUuid = idToUuid(runId)

  async function promote(): Promise<void> {
    const abortAt = random.chance(0.3) ? random.below(10) : Infinity
    const client = createSimClient(tables, abortAt)
    const runs = { projectUuid, liveRunUuid, runUuid, nowMs: context.nowMs }
    const exchanged = await tables
      .transact(async () => {
        const rows = exchangeRuns(tables, liveRunUuid, runUuid)
        const calls = rows.map(({ placed }) => ({
          ...{ id: placed.requestUuid, created_at: new Date(placed.requestCreatedAtMs) },
        }))
        if (rows.length > 0)
          await moveBetweenFindings(client, runs, { exchanged: rows.map(exchangedOf), calls })
        return rows
      })
      .catch((error: unknown) => {
        if (error instanceof Aborted) return []
        throw error
      })
    for (const { placed, run_id: run } of exchanged) {
      const id = expected.ofScore.get(placed.scoreUuid)
      if (run === liveRunUuid && id !== undefined) expected.promote(placed, id)
    }
  }

  /** All steps of one call's erasure: each is a transaction, and is made again when it fails. */
  async function erase(): Promise<void> {
    const call = random.pick([...tables.calls, ''])
    if (call === '') return
    tables.calls.delete(call)
    tables.erased = new Set([call])
    for (const [id, { placed, run_id: run, finding_id: findingUuid }] of tables.scores) {
      if (placed.requestUuid !== call) continue
      tables.scores.delete(id)
      const finding = expected.all.get(findingUuid ?? '')
      if (run === liveRunUuid && finding !== undefined) finding.erased++
    }
    const erasure = { id: 'erasure', project_id: projectUuid } as OpenErasure
    for (const step of [eraseNamesInCounters, eraseNamesInValues, eraseEvidence])
      for (let round = 0; (await step(createSimClient(tables), erasure, 100)) > 0; round++)
        if (round === maxRounds) throw new Error(`${step.name} does not end`)
  }

  return { promote, erase }
}

const exchangedOf = ({ placed, run_id, finding_id }: ScoreRow): ExchangedScore => ({
  ...{ request_id: placed.requestUuid, run_id, id: placed.scoreUuid, finding_id },
  ...{ scorer_name: placed.score.scorer_name, score_label: placed.score.score_label },
  ...{ severity: placed.score.severity, score_value: placed.score.score_value },
})
