import { builtInScorers } from '#schemas/verdicts.ts'
import { useApi } from '../../api/use-api.ts'

/** Of the scorers that come with the system and of those that scored calls of the project in the last month: a name that is misspelt chooses nothing. */
export function useScorerNames(project_id: string): string[] {
  const { data } = useApi('GET /api/safety-scores/summary', { query: { project_id } })
  const scored = (data?.scorers ?? []).flatMap(({ scorer_name }) => scorer_name ?? [])
  return [...new Set([...builtInScorers, ...scored])].sort()
}
