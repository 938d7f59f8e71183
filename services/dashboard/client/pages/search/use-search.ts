import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { addressOf, send, type Answer, type Input } from '../../api/call-api.ts'
import { readLines } from './read-lines.ts'

const operation = 'POST /api/requests/search'
type Line = Answer<typeof operation>
export type Match = Extract<Line, { type: 'match' }>
type End = Extract<Line, { type: 'end' }>
export type SearchProgress = Extract<Line, { type: 'progress' }> | End

export interface SearchState {
  text: string
  matches: readonly Match[]
  progress: SearchProgress | undefined
  error: Error | undefined
  isRunning: boolean
}

const initial: SearchState = {
  text: '',
  matches: [],
  progress: undefined,
  error: undefined,
  isRunning: false,
}

/**
 * A search of the project. What it found stays in memory while other pages are shown, and never in the
 * address: the text may be a secret.
 */
export function useSearch(projectId: string, query: NonNullable<Input<typeof operation>['query']>) {
  const client = useQueryClient()
  const key = ['search', projectId]
  const [state, setState] = useState(() => client.getQueryData<SearchState>(key) ?? initial)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  useEffect(() => {
    client.setQueryData(['search', projectId], { ...state, isRunning: false })
  }, [client, projectId, state])

  const cancel = useCallback(() => running.current?.abort(), [])

  /** `isMore`: goes on where the last one ended. */
  async function search(text: string, isMore = false): Promise<void> {
    running.current?.abort()
    const own = new AbortController()
    running.current = own
    const change = (changed: (before: SearchState) => Partial<SearchState>) => {
      if (running.current === own) setState((before) => ({ ...before, ...changed(before) }))
    }
    const after = isMore && state.progress?.type === 'end' ? state.progress.after : null
    change((before) => ({ ...(isMore ? before : initial), text, error: undefined, isRunning: true }))
    try {
      const body = { text, ...(after === null ? {} : { after }) }
      const response = await send(addressOf(operation, { query, body }), {
        method: 'POST',
        body,
        signal: own.signal,
      })
      if (response.body === null) throw new Error('the answer has no body')
      for await (const line of readLines(response.body)) {
        const event = JSON.parse(line) as Line
        change((before) =>
          event.type === 'match' ? { matches: [...before.matches, event] } : { progress: event },
        )
      }
    } catch (error) {
      if (!own.signal.aborted) change(() => ({ error: error as Error }))
    } finally {
      change(() => ({ isRunning: false }))
    }
  }

  return { state, search, cancel }
}
