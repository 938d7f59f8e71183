import { useSessionStorage } from '@mantine/hooks'
import { useMe } from '../api/session.ts'

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
