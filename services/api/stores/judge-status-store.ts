import type { Pool } from 'pg'
import { z } from 'zod'
import { query } from '#runtime/postgres.ts'
import { judgeSeenSql } from '#schemas/judge-status.ts'

export const judgeField = z
  .object({
    configured: z
      .boolean()
      .nullable()
      .describe('Whether a scorer of the last five minutes has a judge; null: no scorer was seen.'),
  })
  .describe('The language model that scores what detectors leave undecided.')

export async function readJudge(pool: Pool): Promise<z.output<typeof judgeField>> {
  const { rows } = await query<{ configured: boolean | null }>(pool, judgeSeenSql)
  return { configured: rows[0]?.configured ?? null }
}
