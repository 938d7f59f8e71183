import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { countNew } from './count-new.ts'
import {
  addArrived,
  isOutdatedRow,
  type Arrived,
  type ArrivedScore,
  type RequestItem,
} from './merge-scores.ts'

const scoresMs = 4_000
const requestsMs = 5_000
/** Answers read per poll, so that a long absence is not caught up at once. */
const maxRounds = 5

interface Polled {
  since: string
  arrived: ReadonlyMap<string, Arrived>
}

/** Scores by request that arrive while the page is open. If they invalidate `rows`, the list is refetched. */
export function useArrivedScores(
  projectId: string,
  rows: readonly RequestItem[],
): ReadonlyMap<string, Arrived> {
  const client = useQueryClient()
  const queryKey = ['arrived-scores', projectId]
  const { data } = useQuery<Polled>({
    queryKey,
    queryFn: async ({ signal }) => {
      let polled = client.getQueryData<Polled>(queryKey) ?? {
        since: 'now',
        arrived: new Map<string, Arrived>(),
      }
      let isOutdated = false
      const came: ArrivedScore[] = []
      for (let round = 0; round < maxRounds; round++) {
        const query = { project_id: projectId, since: polled.since, page_size: '200' }
        const answer = await callApi('GET /api/safety-scores', { query }, signal)
        if (!('next_since' in answer)) throw new Error('the API answered a list where scores were polled')
        const scores = answer.items ?? []
        came.push(...scores)
        const added = addArrived(polled.arrived, scores)
        polled = { since: answer.next_since, arrived: added.arrived }
        isOutdated ||= added.isOutdated
        if (!answer.has_more) break
      }
      if (isOutdated || isOutdatedRow(rows, polled.arrived, came))
        void client.invalidateQueries({ queryKey: ['GET /api/requests'] })
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

/** The number of new requests not in the list; `isMore` if one answer does not hold all. */
export function useNewRequests(
  query: Record<string, string | undefined>,
  rows: readonly RequestItem[],
  enabled: boolean,
): { count: number; isMore: boolean } {
  const { data } = useApi(
    'GET /api/requests',
    { query: { ...query, page_size: String(newestShown) } },
    { pollMs: requestsMs, enabled },
  )
  return useMemo(
    () => countNew(data !== undefined && 'items' in data ? data.items : [], rows, newestShown),
    [data, rows],
  )
}
