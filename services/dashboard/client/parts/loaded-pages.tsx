import { Stack } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ApiError, Item, Page } from '../api/call-api.ts'
import { rowsOf, type Reading } from '../api/use-api.ts'
import { NextPage } from './next-page.tsx'
import { Loaded } from './page-states.tsx'

interface LoadedPagesProps<K extends Reading> {
  query: UseInfiniteQueryResult<InfiniteData<Page<K>, string | undefined>, ApiError>
  /** Shown if there are no rows. */
  empty: ReactNode
  children: (rows: Item<K>[]) => ReactNode
}

/** The rows of a cursor-paged list or its state, and a button for older rows. */
export function LoadedPages<K extends Reading>({ query, empty, children }: LoadedPagesProps<K>) {
  return (
    <Loaded query={query} empty={{ when: (data) => rowsOf<K>(data).length === 0, show: empty }}>
      {(data) => (
        <Stack>
          {children(rowsOf<K>(data))}
          <NextPage query={query} label="Older" />
        </Stack>
      )}
    </Loaded>
  )
}
