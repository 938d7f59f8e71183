import { useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { addArrived, type Arrived, type RequestItem } from './merge-scores.ts'

const scoresMs = 4_000
const requestsMs = 5_000
/** Answers that one round reads: who was away for long does not read all that came meanwhile at once. */
const maxRounds = 5

interface Polled {
  since: string
  arrived: ReadonlyMap<string, Arrived>
}

/** Scores that come while the page is looked at, by request. */
export function useArrivedScores(projectId: string): ReadonlyMap<string, Arrived> {
  const client = useQueryClient()
  const queryKey = ['arrived-scores', projectId]
  const { data } = useQuery<Polled>({
    queryKey,
    queryFn: async ({ signal }) => {
      let polled = client.getQueryData<Polled>(queryKey) ?? {
        since: 'now',
        arrived: new Map<string, Arrived>(),
      }
      for (let round = 0; round < maxRounds; round++) {
        const query = { project_id: projectId, since: polled.since, page_size: '200' }
        const answer = await callApi('GET /api/safety-scores', { query }, signal)
        if (!('next_since' in answer)) throw new Error('the API answered a list where scores were polled')
        polled = { since: answer.next_since, arrived: addArrived(polled.arrived, answer.items ?? []) }
        if (!answer.has_more) break
      }
      return polled
    },
    refetchInterval: scoresMs,
    // Maps are not compared entry by entry.
    structuralSharing: false,
  })
  return data?.arrived ?? none
}

const none: ReadonlyMap<string, Arrived> = new Map()
const newestShown = 50

/** How many requests came before the first row that is shown; `isMore` when they are more than one answer holds. */
export function useNewRequests(
  query: Record<string, string | undefined>,
  first: RequestItem | undefined,
  enabled: boolean,
): { count: number; isMore: boolean } {
  const newest = useApi(
    'GET /api/requests',
    { query: { ...query, page_size: String(newestShown) } },
    { pollMs: requestsMs, enabled },
  )
  const items = newest.data !== undefined && 'items' in newest.data ? newest.data.items : []
  if (first === undefined) return { count: items.length, isMore: items.length === newestShown }
  // Identifiers begin with the time, and rows come in their order.
  const count = items.filter(
    ({ created_at, id }) =>
      created_at > first.created_at || (created_at === first.created_at && id > first.id),
  ).length
  return { count, isMore: count === newestShown }
}
