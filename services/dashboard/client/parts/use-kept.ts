import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { meKey } from '../api/session.ts'
import { useDraft } from './use-draft.ts'

/**
 * Page state under a name: the open dialog, input. Restored for the same person after a session ended;
 * deliberate sign-out clears it.
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

/** The same for a Mantine form. Never for secrets, which would remain in the tab's storage. */
export function useKeptValues<T>(
  name: string,
  initialValues: T,
): { initialValues: T; onValuesChange: (values: T) => void } {
  const [typed, keep] = useKept<T>(`form.${name}`)
  return { initialValues: typed ?? initialValues, onValuesChange: keep }
}
