import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { SearchTexts } from '../formats/search-texts.ts'

/** The text parameters of a link. */
export function readTexts(search: Record<string, unknown>): SearchTexts {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

/** The query of the address: filters, ranges and whatever else a link carries. */
export function useTexts(): SearchTexts {
  return useSearch({ strict: false })
}

/** Changes parameters; undefined or '' removes one. `replaces` adds no entry to the browser's history. */
export function useSetTexts(): (changes: SearchTexts, options?: { replaces?: boolean }) => void {
  const navigate = useNavigate()
  return useCallback(
    (changes, { replaces = false } = {}) => {
      void navigate({
        to: '.',
        search: (before: SearchTexts) => withTexts(before, changes),
        replace: replaces,
        resetScroll: false,
      } as Parameters<typeof navigate>[0])
    },
    [navigate],
  )
}

function withTexts(before: SearchTexts, changes: SearchTexts): SearchTexts {
  return Object.fromEntries(
    Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined && value !== ''),
  )
}

/** A path parameter: `$id` of '/requests/$id'. */
export function usePathText(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false })
  return params[name] ?? ''
}
