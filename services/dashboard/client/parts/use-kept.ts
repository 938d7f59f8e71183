import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { meKey } from '../api/session.ts'
import { useDraft } from './use-draft.ts'

/**
 * What a page is at, under a name: which dialog is open, what is typed into it. It is there again for the same person after their session ended
 * meanwhile; who leaves of their own accord begins anew.
 */
export function useKept<T>(name: string): [T | undefined, (state: T | undefined) => void] {
  const [state, setState] = useDraft<T>(name)
  const client = useQueryClient()
  const leave = useEffectEvent(() => {
    if (client.getQueryData(meKey) !== null) setState(undefined)
  })
  useEffect(() => () => leave(), [])
  return [state, setState]
}

/** For Mantine's form, of which what is typed is kept so. Never for secrets: they would lie in the tab's storage. */
export function useKeptValues<T>(
  name: string,
  initialValues: T,
): { initialValues: T; onValuesChange: (values: T) => void } {
  const [typed, keep] = useKept<T>(`form.${name}`)
  return { initialValues: typed ?? initialValues, onValuesChange: keep }
}
