import { useSessionStorage } from '@mantine/hooks'
import { useMe, meKey } from '../api/session.ts'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'

const prefix = 'sluice.draft.'

/**
 * Unsent input under a name; undefined: none. Survives the end of a session for the same person: it is in the
 * tab's storage, as single sign-on leaves the page.
 */
export function useDraft<T>(name: string): [T | undefined, (draft: T | undefined) => void] {
  const [draft, keep, forget] = useSessionStorage<T | undefined>({
    key: `${prefix}${useMe().data?.id ?? ''}.${name}`,
    getInitialValueInEffect: false,
  })
  return [draft, (next) => (next === undefined ? forget() : keep(next))]
}

/** On deliberate sign-out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}

/**
 * Page state under a name: the open dialog, input. Restored for the same person after a session ended;
 * deliberate sign-out clears it.
 */
export function usePersisted<T>(name: string): [T | undefined, (state: T | undefined) => void] {
  const [state, setState] = useDraft<T>(name)
  const client = useQueryClient()
  const clear = useEffectEvent(() => {
    if (client.getQueryData(meKey) !== null) setState(undefined)
  })
  useEffect(() => () => clear(), [])
  return [state, setState]
}

/** The same for a Mantine form. Never for secrets, which would remain in the tab's storage. */
export function usePersistedValues<T>(
  name: string,
  initialValues: T,
): { initialValues: T; onValuesChange: (values: T) => void } {
  const [typed, keep] = usePersisted<T>(`form.${name}`)
  return { initialValues: typed ?? initialValues, onValuesChange: keep }
}
