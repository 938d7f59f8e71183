import { useQueries, type UseQueryResult } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callTagged, type Answer, type Tagged } from '../../api/call-api.ts'
import { readConversation } from '../request/read-conversation.ts'
import { foldHistory, type FoldedCall } from './fold-history.ts'
import type { SessionCall } from './session-call.tsx'

/**
 * What these calls say, by their ids, once all of them are read: folding needs those before. The API audits
 * each reading, so that calls are read when a person asks for them and never again.
 */
export function useSaid(calls: readonly SessionCall[]): {
  said: ReadonlyMap<string, FoldedCall>
  isReading: boolean
  error: Error | null
} {
  const { details, isReading, error } = useQueries({
    queries: calls.map(({ id, project_id }) => {
      const input = { params: { id }, query: { project_id } }
      return {
        queryKey: ['GET /api/requests/{id}', input],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          callTagged('GET /api/requests/{id}', input, { signal }),
        staleTime: Infinity,
      }
    }),
    combine,
  })
  const said = useMemo(() => {
    const read = details.flatMap((detail) =>
      detail === undefined || (detail.request_body === null && detail.response_body === null) ? [] : [detail],
    )
    const folded = foldHistory(
      read.map(({ request_body, response_body, status_code }) =>
        readConversation(request_body, response_body, status_code),
      ),
    )
    return new Map(
      read.flatMap(({ id }, index) => (folded[index] === undefined ? [] : [[id, folded[index]]])),
    )
  }, [details])
  return { said, isReading, error }
}

type Detail = Answer<'GET /api/requests/{id}'>

/** Of the module: a new function for each render would compare all bodies each time. */
function combine(results: UseQueryResult<Tagged<Detail>>[]) {
  return {
    details: results.map(({ data }) => data?.data),
    isReading: results.some(({ isPending }) => isPending),
    error: results.find(({ error }) => error !== null)?.error ?? null,
  }
}
