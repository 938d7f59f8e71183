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
  goTo: { hotkey: 'mod+K', cap: 'Ctrl K', where: 'Everywhere', does: 'Go to a page, project, id or session' },
  nextRow: { hotkey: 'j', cap: 'j', where: 'Requests, Findings', does: 'Next row; Enter opens it' },
  previousRow: { hotkey: 'k', cap: 'k', where: 'Requests, Findings', does: 'Previous row' },
  focusFilter: { hotkey: '/', cap: '/', where: 'Requests, Findings', does: 'Go to the filter' },
  select: { hotkey: 'x', cap: 'x', where: 'Findings', does: 'Select the row, or not' },
  acknowledge: { hotkey: 'a', cap: 'a', where: 'Findings', does: 'Acknowledge the selected, or the row' },
  falseAlarm: { hotkey: 'd', cap: 'd', where: 'Findings', does: 'Dismiss as a false alarm' },
  mute: { hotkey: 'm', cap: 'm', where: 'Findings', does: 'Mute until a time' },
  resolve: { hotkey: 'e', cap: 'e', where: 'Findings', does: 'Resolve' },
  assign: { hotkey: 'o', cap: 'o', where: 'Findings', does: 'Choose the owner' },
  undo: { hotkey: 'z', cap: 'z', where: 'Findings', does: 'Undo the last change' },
  nextCall: { hotkey: 'n', cap: 'n', where: 'Request', does: 'Next call of the session' },
  previousCall: { hotkey: 'p', cap: 'p', where: 'Request', does: 'Previous call of the session' },
  listKeys: { hotkey: 'shift+?', cap: '?', where: 'Everywhere', does: 'Show keyboard shortcuts' },
} as const satisfies Record<string, PageKey>
type PageKeyName = keyof typeof pageKeys

/** Binds shortcuts while the page is shown. Inactive while typing. */
export function usePageKeys(actions: Partial<Record<PageKeyName, () => void>>): void {
  useHotkeys(
    Object.entries(actions).map(([name, act]) => [
      pageKeys[name as PageKeyName].hotkey,
      (event) => {
        if (isTypedInto(event.target)) return
        event.preventDefault()
        act()
      },
      // Otherwise fields would not get these letters.
      { preventDefault: false },
    ]),
    ['TEXTAREA', 'SELECT'],
  )
}

/** A ticked checkbox keeps the focus, and the next key is for the page. */
export function isTypedInto(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type !== 'checkbox'
}
