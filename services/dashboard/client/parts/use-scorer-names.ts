import { builtInScorers } from '#schemas/verdicts.ts'
import { useApi } from '../api/use-api.ts'

/** Built-in scorers and those of the last month's calls: a misspelt name would match nothing. */
export function useScorerNames(project_id: string): string[] {
  const { data } = useApi('GET /api/safety-scores/summary', { query: { project_id } })
  const scored = (data?.scorers ?? []).flatMap(({ scorer_name }) => scorer_name ?? [])
  return [...new Set([...builtInScorers, ...scored])].sort()
}
