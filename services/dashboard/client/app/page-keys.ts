import { useHotkeys } from '@mantine/hooks'

interface PageKey {
  /** The library's notation. */
  hotkey: string
  /** The label on the key. */
  cap: string
  where: string
  does: string
}

/** All keyboard shortcuts. Pages bind them and the list shows them from here. */
export const pageKeys = {
  nextRow: { hotkey: 'j', cap: 'j', where: 'Requests', does: 'Next request; Enter opens it' },
  previousRow: { hotkey: 'k', cap: 'k', where: 'Requests', does: 'Previous request' },
  nextCall: { hotkey: 'n', cap: 'n', where: 'Request', does: 'Next call of the session' },
  previousCall: { hotkey: 'p', cap: 'p', where: 'Request', does: 'Previous call of the session' },
  listKeys: { hotkey: 'shift+?', cap: '?', where: 'Everywhere', does: 'Show keyboard shortcuts' },
} as const satisfies Record<string, PageKey>
type PageKeyName = keyof typeof pageKeys

/** Binds shortcuts while the page is shown. Inactive while typing. */
export function usePageKeys(actions: Partial<Record<PageKeyName, () => void>>): void {
  useHotkeys(Object.entries(actions).map(([name, act]) => [pageKeys[name as PageKeyName].hotkey, act]))
}
