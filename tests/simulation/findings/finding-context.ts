import type { ClientBase } from 'pg'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { seededId } from '../parts/load.ts'
import type { Random } from '../world/random.ts'
import { beginningMs } from '../world/world.ts'
import { runStatement } from './api-statements.ts'
import { ExpectedFindings } from './expected-findings.ts'
import { Aborted, FindingTables } from './finding-tables.ts'
import { sinkStatements } from './sink-statements.ts'
import { upkeepStatements } from './upkeep-statements.ts'

/** Few, so that seeds fill them. */
export const maxFindings = 6
const statements = { ...sinkStatements, ...upkeepStatements }

/** What the parts of a history share. */
export function createFindingContext(random: Random) {
  const dayMs = 86_400_000
  const projectId = seededId({ random }, 'project', beginningMs - 30 * dayMs)
  const tables = new FindingTables()
  return {
    ...{ random, tables, projectId, nowMs: beginningMs, failures: [] as string[] },
    ...{ projectUuid: idToUuid(projectId), liveRunUuid: idToUuid(liveRunId(projectId)) },
    runId: seededId({ random }, 'run', beginningMs),
    expected: new ExpectedFindings(projectId, maxFindings),
  }
}

export type FindingContext = ReturnType<typeof createFindingContext>

/** A connection in a transaction; `abortAt`: the statement at which it breaks. */
export function createSimClient(tables: FindingTables, abortAt = Infinity): ClientBase {
  let place = 0
  const client = {
    query(text: string, values: readonly unknown[]) {
      if (place++ === abortAt) return Promise.reject(new Aborted('Connection terminated'))
      const rows = runStatement(statements, tables, text, values)
      return Promise.resolve({ rows, rowCount: rows.length })
    },
  }
  return client as unknown as ClientBase
}
