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
  nextRow: { hotkey: 'j', cap: 'j', where: 'Requests', does: 'Go to the next one; Enter opens it' },
  previousRow: { hotkey: 'k', cap: 'k', where: 'Requests', does: 'Go to the one before' },
  nextCall: { hotkey: 'n', cap: 'n', where: 'A request', does: 'The next call of its session' },
  previousCall: { hotkey: 'p', cap: 'p', where: 'A request', does: 'The call before it in its session' },
  listKeys: { hotkey: 'shift+?', cap: '?', where: 'Everywhere', does: 'Show these keys' },
} as const satisfies Record<string, PageKey>
type PageKeyName = keyof typeof pageKeys

/** Binds shortcuts while the page is shown. Inactive while typing. */
export function usePageKeys(actions: Partial<Record<PageKeyName, () => void>>): void {
  useHotkeys(Object.entries(actions).map(([name, act]) => [pageKeys[name as PageKeyName].hotkey, act]))
}
