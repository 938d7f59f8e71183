import { useSessionStorage } from '@mantine/hooks'
import { useMe } from '../api/session.ts'

const prefix = 'sluice.draft.'

/**
 * What somebody writes and has not sent, under a name; undefined: nothing. For the same person it is there again after their session ended in between: in
 * the storage of the tab, as single sign-on leaves the page.
 */
export function useDraft<T>(name: string): [T | undefined, (draft: T | undefined) => void] {
  const [draft, keep, forget] = useSessionStorage<T | undefined>({
    key: `${prefix}${useMe().data?.id ?? ''}.${name}`,
    getInitialValueInEffect: false,
  })
  return [draft, (next) => (next === undefined ? forget() : keep(next))]
}

/** For who leaves of their own accord. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
}
