import { Alert } from '@mantine/core'
import { notifyManager, useQueryClient, type QueryCache, type QueryState } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { meKey } from '../api/session.ts'
import { TimeText } from '../parts/time-text.tsx'

/** Since when a part of the page cannot be read anew, and why: what was true then would pass for what is true now. */
export function LastRead() {
  const cache = useQueryClient().getQueryCache()
  const subscribe = useCallback(
    (onChange: () => void) => cache.subscribe(notifyManager.batchCalls(onChange)),
    [cache],
  )
  const oldest = useSyncExternalStore(subscribe, () => oldestUnread(cache))
  return (
    <div aria-live="polite">
      {oldest === undefined ? null : (
        <Alert color="gray" py="xs" mb="md">
          Last read at <TimeText at={new Date(oldest.dataUpdatedAt).toISOString()} />; {reasonOf(oldest)}
        </Alert>
      )}
    </div>
  )
}

/** Of what is shown, and could not be read when it was asked for again, what was read longest ago. */
function oldestUnread(cache: QueryCache): QueryState | undefined {
  return cache
    .findAll({ type: 'active' })
    .filter(({ queryKey }) => queryKey[0] !== meKey[0])
    .map(({ state }) => state)
    .filter(
      ({ data, status, fetchStatus }) =>
        data !== undefined && (status === 'error' || fetchStatus === 'paused'),
    )
    .reduce<QueryState | undefined>(
      (oldest, state) =>
        oldest !== undefined && oldest.dataUpdatedAt <= state.dataUpdatedAt ? oldest : state,
      undefined,
    )
}

function reasonOf({ error, fetchFailureReason }: QueryState): string {
  const reason = error ?? fetchFailureReason
  if (reason === null) return 'this browser is offline'
  // What fetch throws where nobody answers.
  return reason instanceof TypeError ? 'the dashboard does not answer' : reason.message
}
