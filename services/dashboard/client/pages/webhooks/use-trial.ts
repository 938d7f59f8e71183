import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { callApi, type Answer, type ApiError } from '../../api/call-api.ts'

type Trial = Answer<'POST /api/v1/webhooks/try'>

/** Evaluates an expression on the project's newest events. Changes nothing, so it is cached like a read. */
export function useTrial(projectId: string, expression: string): UseQueryResult<Trial, ApiError> {
  return useQuery<Trial, ApiError>({
    queryKey: ['POST /api/v1/webhooks/try', projectId, expression],
    queryFn: ({ signal }) =>
      callApi(
        'POST /api/v1/webhooks/try',
        { query: { project_id: projectId }, body: { filter_expression: expression } },
        signal,
      ),
    enabled: expression !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  })
}
