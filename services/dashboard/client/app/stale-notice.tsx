import { Alert } from '@mantine/core'
import {
  notifyManager,
  useQueryClient,
  type Query,
  type QueryCache,
  type QueryState,
} from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { meKey } from '../api/session.ts'
import { TimeText } from '../parts/time-text.tsx'

/** Shorter delays are not shown. */
const minDelayMs = 10_000
const checkMs = 2_000
/** When each pending refetch began, in Unix milliseconds. */
const askedAt = new WeakMap<object, number>()

/** Since when part of the page could not be refreshed, and why: its values would pass for current ones. */
export function StaleNotice() {
  const cache = useQueryClient().getQueryCache()
  const subscribe = useCallback(
    (onChange: () => void) => {
      // While the server is unreachable, the cache emits no events.
      const checking = setInterval(onChange, checkMs)
      const changed = notifyManager.batchCalls(onChange)
      const unsubscribe = cache.subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'fetch') askedAt.set(event.query, Date.now())
        changed()
      })
      return () => {
        clearInterval(checking)
        unsubscribe()
      }
    },
    [cache],
  )
  const oldest = useSyncExternalStore(subscribe, () => oldestStale(cache))
  return (
    <div aria-live="polite">
      {oldest === undefined ? null : (
        <Alert color="gray" py="xs" mb="md">
          Last updated at <TimeText at={new Date(oldest.dataUpdatedAt).toISOString()} />; {reasonOf(oldest)}
        </Alert>
      )}
    </div>
  )
}

/** Of the shown queries that failed to refetch, the one with the oldest data. */
function oldestStale(cache: QueryCache): QueryState | undefined {
  return cache
    .findAll({ type: 'active' })
    .filter((query) => query.queryKey[0] !== meKey[0] && query.state.data !== undefined && isStale(query))
    .map(({ state }) => state)
    .reduce<QueryState | undefined>(
      (oldest, state) =>
        oldest !== undefined && oldest.dataUpdatedAt <= state.dataUpdatedAt ? oldest : state,
      undefined,
    )
}

function isStale(query: Query): boolean {
  const { status, fetchStatus } = query.state
  const isLate = fetchStatus === 'fetching' && Date.now() - (askedAt.get(query) ?? Infinity) > minDelayMs
  return status === 'error' || fetchStatus === 'paused' || isLate
}

function reasonOf({ error, fetchFailureReason, fetchStatus }: QueryState): string {
  const reason = error ?? fetchFailureReason
  if (reason === null) return fetchStatus === 'paused' ? 'this browser is offline' : 'waiting for an answer'
  // fetch throws it if the server is unreachable.
  return reason instanceof TypeError ? 'the dashboard is unreachable' : reason.message
}
