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
  againMs,
  callApi,
  callTagged,
  isAway,
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
  /** Asks again so often while the page is looked at; with the tag of what it has. Absent: once. */
  pollMs?: number
  /** Until an answer says that it is the last. */
  isLast?: (answer: Answer<K>) => boolean
  enabled?: boolean
  /** Shows what was there until what is asked for has come: for filters and ranges. */
  keepsPrevious?: boolean
  /** Of what is read about, as another answer told it: when it changes, this is read anew, as it may be from before. */
  state?: string
  /** What never changes, and is not asked for again: bodies, whose every reading is written down. */
  isFixed?: boolean
}

/** What an operation answers. Polled answers that did not change are not sent again. */
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
  useLastLook(pollMs !== undefined, result.refetch)
  useLookPerState(state, result.refetch)
  return result
}

/** What was there before; not once this has failed: it would take the place of what is said of that with every further try. */
function previousUntilFailed(client: QueryClient, queryKey: unknown[]) {
  const failures = client.getQueryState(queryKey)?.errorUpdateCount ?? 0
  return failures > 0 ? {} : { placeholderData: keepPreviousData }
}

/** What was read last while something was under way may be older than its end: it is asked for once more. */
function useLastLook(isPolled: boolean, refetch: () => Promise<unknown>): void {
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

/** A list by its cursors: rows that arrive meanwhile move nothing. `pollsWhile`: which rows go on by themselves, and are followed while the list is short. */
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
            isAway(error) || isFollowed(data, pollsWhile) ? againMs : false,
        }),
  })
}

/** Each look reads every page that was loaded, one after the other: a list of more is followed no longer. */
const followedPages = 4

/** Whether a list is asked for again, because rows of it go on by themselves. */
export function isFollowed<K extends Reading>(
  data: InfiniteData<Page<K>, string | undefined> | undefined,
  pollsWhile: (row: Item<K>) => boolean,
): boolean {
  return data !== undefined && data.pages.length <= followedPages && rowsOf<K>(data).some(pollsWhile)
}

/** The rows of all pages that were read. */
export function rowsOf<K extends Reading>(
  pages: InfiniteData<Page<K>, string | undefined> | undefined,
): Item<K>[] {
  return pages?.pages.flatMap(({ items }) => items as Item<K>[]) ?? []
}

/** Changes something; then what was read by the operations in `changes` is asked for anew. */
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
