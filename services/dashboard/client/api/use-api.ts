import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type QueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  retryPollMs,
  callApi,
  callTagged,
  isUnavailable,
  type Answer,
  type ApiError,
  type Input,
  type Item,
  type OperationName,
  type Page,
  type Tagged,
} from './call-api.ts'

export type Reading = Extract<OperationName, `GET ${string}`>

interface UseApiOptions<K extends Reading> {
  /** Poll interval while the page is visible, with ETag. Absent: no polling. */
  pollMs?: number
  /** Stops polling at the last answer. */
  isLast?: (answer: Answer<K>) => boolean
  enabled?: boolean
  /** Keeps the previous answer until the new one arrives: for filters and ranges. */
  keepsPrevious?: boolean
  /** State of the subject in another answer. When it changes, this is refetched. */
  state?: string
  /** Immutable, so never refetched: each reading of bodies is audited. */
  isFixed?: boolean
}

/** Reads an operation. Unchanged polled answers are not sent again. */
export function useApi<K extends Reading>(
  operation: K,
  input: Input<K>,
  { pollMs, isLast, enabled = true, keepsPrevious = false, state, isFixed = false }: UseApiOptions<K> = {},
): UseQueryResult<Answer<K>, ApiError> {
  const client = useQueryClient()
  const queryKey = [operation, input]
  const result = useQuery<Tagged<Answer<K>>, ApiError, Answer<K>>({
    queryKey,
    queryFn: ({ signal }) =>
      callTagged(operation, input, { known: client.getQueryData<Tagged<Answer<K>>>(queryKey), signal }),
    select: ({ data }) => data,
    enabled,
    ...(pollMs === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data } }) =>
            data !== undefined && isLast?.(data.data) === true ? false : pollMs,
        }),
    ...(isFixed ? { staleTime: Infinity } : {}),
    ...(keepsPrevious ? previousUntilFailed(client, queryKey) : {}),
  })
  useFinalRefetch(pollMs !== undefined, result.refetch)
  useLookPerState(state, result.refetch)
  return result
}

/** The previous answer as placeholder, until a failure: it would replace the error with every retry. */
function previousUntilFailed(client: QueryClient, queryKey: unknown[]) {
  const failures = client.getQueryState(queryKey)?.errorUpdateCount ?? 0
  return failures > 0 ? {} : { placeholderData: keepPreviousData }
}

/** The last answer to a poll may predate the end of what it shows: refetch once. */
function useFinalRefetch(isPolled: boolean, refetch: () => Promise<unknown>): void {
  const wasPolled = useRef(isPolled)
  useEffect(() => {
    if (wasPolled.current && !isPolled) void refetch()
    wasPolled.current = isPolled
  }, [isPolled, refetch])
}

function useLookPerState(state: string | undefined, refetch: () => Promise<unknown>): void {
  const readIn = useRef(state)
  useEffect(() => {
    if (readIn.current !== state) void refetch()
    readIn.current = state
  }, [state, refetch])
}

/**
 * A list by cursors: rows that arrive meanwhile move nothing. `pollsWhile`: rows that still change; the list
 * is polled while it is short and has some.
 */
export function useApiPages<K extends Reading>(
  operation: K,
  input: Input<K>,
  { pollsWhile }: { pollsWhile?: (row: Item<K>) => boolean } = {},
): UseInfiniteQueryResult<InfiniteData<Page<K>, string | undefined>, ApiError> {
  const client = useQueryClient()
  const queryKey = [operation, input, 'pages']
  return useInfiniteQuery<
    Page<K>,
    ApiError,
    InfiniteData<Page<K>, string | undefined>,
    unknown[],
    string | undefined
  >({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const { query, ...rest } = input as { query?: object }
      const paged = {
        ...rest,
        query: { ...query, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
      }
      return (await callApi(operation, paged as Input<K>, signal)) as Page<K>
    },
    initialPageParam: undefined,
    getNextPageParam: (page) => (page as { next_cursor?: string | null }).next_cursor ?? undefined,
    ...previousUntilFailed(client, queryKey),
    ...(pollsWhile === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data, error } }) =>
            isUnavailable(error) || isFollowed(data, pollsWhile) ? retryPollMs : false,
        }),
  })
}

/** A poll refetches every loaded page in turn; longer lists are not polled. */
const followedPages = 4

/** Whether a list is polled because some of its rows still change. */
export function isFollowed<K extends Reading>(
  data: InfiniteData<Page<K>, string | undefined> | undefined,
  pollsWhile: (row: Item<K>) => boolean,
): boolean {
  return data !== undefined && data.pages.length <= followedPages && rowsOf<K>(data).some(pollsWhile)
}

/** The rows of all loaded pages. */
export function rowsOf<K extends Reading>(
  pages: InfiniteData<Page<K>, string | undefined> | undefined,
): Item<K>[] {
  return pages?.pages.flatMap(({ items }) => items as Item<K>[]) ?? []
}

/** A mutation that afterwards refetches the operations in `changes`. */
export function useApiChange<K extends OperationName>(
  operation: K,
  changes: readonly Reading[],
): UseMutationResult<Answer<K>, ApiError, Input<K>> {
  const client = useQueryClient()
  return useMutation<Answer<K>, ApiError, Input<K>>({
    mutationFn: (input) => callApi(operation, input),
    onSuccess: () => Promise.all(changes.map((changed) => client.invalidateQueries({ queryKey: [changed] }))),
  })
}
