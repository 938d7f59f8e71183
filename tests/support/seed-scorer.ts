import type { RunningApi } from './start-api.ts'

/** A scorer of the project of `key`, and a preview of it that is over. */
export async function seedScorer(
  { call, pool }: Pick<RunningApi, 'call' | 'pool'>,
  key: string,
  name = 'seeded',
): Promise<{ scorerId: string; previewId: string; ids: Record<string, string> }> {
  const body = { name, severity: 'high', definition: { kind: 'regex', patterns: ['VICTIM'] } }
  const scorer = await call('POST', '/api/scorers', { key, body })
  const scorerId = String(scorer.json['id'])
  const preview = await call('POST', '/api/scorers/previews', { key, body: { scorer_id: scorerId } })
  await pool.query(`update scorer_previews set status = 'failed'`)
  const previewId = String(preview.json['id'])
  // By the paths that they are for, the longer first.
  const ids = { '/api/scorers/previews': previewId, '/api/scorers': scorerId, '{name}': 'supply_chain' }
  return { scorerId, previewId, ids }
}
