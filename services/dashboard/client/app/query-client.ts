import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { retryPollMs, ApiError, isUnavailable } from '../api/call-api.ts'
import { meKey } from '../api/session.ts'

/** Refusals are not retried. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiError && error.status < 500 && error.code !== 'NOT_STORED_YET'
  return !isRefused && failures < 2
}

/**
 * The cache of answers. On any 401, refetch `/me`; if the session has ended, sign out. A 401 to a request of
 * an earlier session is ignored: acting on it asked for the password twice.
 */
export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiError && error.status === 401) void client.invalidateQueries({ queryKey: meKey })
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: isWorthRetrying,
        staleTime: 10_000,
        refetchInterval: ({ state: { error } }) => (isUnavailable(error) ? retryPollMs : false),
        // Long lists are not kept for pages that nobody views.
        gcTime: 120_000,
      },
    },
  })
  return client
}
