import type { Pool } from 'pg'
import { idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { placeCall } from '#services/sink/steps/place-call.ts'
import { placeScores } from '#services/sink/steps/place-score.ts'
import { createCallStore } from '#services/sink/stores/call-store.ts'
import { createRollupStore } from '#services/sink/stores/rollup-store.ts'
import { createScoreStore } from '#services/sink/stores/score-store.ts'

/**
 * Stores calls and scores by the sink's own stores, with roll-ups and verdicts, as if they had come from
 * Kafka.
 */
export function createCallStorage(pool: Pool) {
  const rollups = createRollupStore()
  const stores = { calls: createCallStore(pool, rollups), scores: createScoreStore(pool, rollups) }
  let offset = 0
  return {
    async calls(calls: readonly LoggedCall[]): Promise<void> {
      const days = new Set(calls.map(({ id }) => new Date(idTimeMs(id)).toISOString().slice(0, 10)))
      for (const day of days) await pool.query('select ensure_day_partitions($1::date)', [day])
      const placed = calls.map((value) =>
        placeCall({
          topic: '',
          partition: 0,
          offset: BigInt(offset++),
          key: null,
          value,
          headers: {},
          timestampMs: 0,
        }),
      )
      const position = { cluster: 'test', topic: 'calls', partition: 0, nextOffset: BigInt(offset) }
      await stores.calls.store(placed, position, 'kept')
    },
    async scores(scored: readonly ScoredCall[]): Promise<void> {
      await stores.scores.store(scored.flatMap(placeScores), 0, () => [])
    },
  }
}
