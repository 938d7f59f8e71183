import type { QuotaStore } from '#services/ingest/stores/quota-store.ts'
import { addTo, type Database } from './database.ts'

const dayMs = 86_400_000

/**
 * Like `admit_requests`: a request admitted before costs nothing, and refused ones do not change the counter.
 */
export function createSimQuotaStore(database: Database, limit: number): QuotaStore {
  return {
    admit: (projectId, requestIds, nowMs) =>
      database.ask(() => {
        const claims = database.quotaClaims.get(projectId) ?? new Set()
        database.quotaClaims.set(projectId, claims)
        for (const id of requestIds) {
          if (claims.has(id) || claims.size >= limit) continue
          claims.add(id)
          addTo(database.quotaCounters, projectId)
        }
        return {
          admitted: new Set(requestIds.filter((id) => claims.has(id))),
          tier: 'free',
          limit,
          periodStartMs: nowMs - 20 * dayMs,
          periodResetAtMs: nowMs + 10 * dayMs,
        }
      }),
  }
}
