import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { againMs, ApiError, isAway } from '../api/call-api.ts'
import { meKey } from '../api/session.ts'

/** Nothing is gained by asking again about what was refused. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiError && error.status < 500 && error.code !== 'NOT_STORED_YET'
  return !isRefused && failures < 2
}

/**
 * What the pages have read. A 401 from anywhere has it asked who is logged in: that ends the session here too, unless it was the answer to what
 * was sent in one before this. Taken for this one's end, such an answer asked for the password twice.
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
        refetchInterval: ({ state: { error } }) => (isAway(error) ? againMs : false),
        // Long lists with their pages are not kept for a page that nobody looks at.
        gcTime: 120_000,
      },
    },
  })
  return client
}
