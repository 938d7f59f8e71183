import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { SearchTexts } from '../formats/search-texts.ts'

/** What a link gives, without what is no text. */
export function readTexts(search: Record<string, unknown>): SearchTexts {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

/** The query part of the address: filters, ranges, whatever a link shall carry. */
export function useTexts(): SearchTexts {
  return useSearch({ strict: false })
}

/** Changes some of them; undefined or '' takes one away. `replaces` leaves no step for the browser's back button. */
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

/** A parameter of the path: `$id` of '/requests/$id'. */
export function usePathText(name: string): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false })
  return params[name] ?? ''
}
