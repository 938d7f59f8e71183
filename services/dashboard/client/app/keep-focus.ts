/** What had the focus, on which page, and what it stands in that can have it. */
interface Place {
  element: HTMLElement
  holders: readonly HTMLElement[]
  path: string
}

/** Beyond these nobody looks for where they were. */
const remembered = 20

/**
 * Whoever uses keys goes on from where they were. What has the focus may be taken away (a dialog, a filter, the last "Older") or cannot have it for a
 * while (a button that works), and browsers begin at the top of the page again. Returns what ends it.
 */
export function keepFocus(page: Document): () => void {
  const ending = new AbortController()
  const { signal } = ending
  let places: Place[] = []
  let byKeys = false
  const listen = (name: string, act: (event: Event) => void) =>
    page.addEventListener(name, act, { capture: true, signal })
  listen('keydown', () => (byKeys = true))
  listen('pointerdown', () => (byKeys = false))
  // Who clicked beside it has left it, whatever keys come after. Where fingers tap, the focus moves only after their last pointer event.
  listen('mouseup', () => {
    if (page.activeElement === page.body) places = []
  })
  listen('focusin', ({ target: element }) => {
    if (!(element instanceof HTMLElement)) return
    const before = places.filter((place) => place.element !== element && place.element.isConnected)
    const place = { element, holders: holdersOf(element), path: page.location.pathname }
    places = [...before, place].slice(-remembered)
  })
  const look = () => {
    const last = places.at(-1)
    if (!byKeys || last === undefined || page.activeElement !== page.body || !page.hasFocus()) return
    // It works, and can have the focus again in a moment.
    if (last.element.isConnected && last.element.matches(':disabled')) return
    nextPlace(page, places)?.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(look)
  observer.observe(page.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
  signal.addEventListener('abort', () => observer.disconnect())
  return () => ending.abort()
}

function holdersOf(element: HTMLElement): HTMLElement[] {
  const holder = element.parentElement?.closest<HTMLElement>('[tabindex]') ?? null
  return holder === null ? [] : [holder, ...holdersOf(holder)]
}

/** Where it was last, else what held that, else where it was before; the page itself where nothing of that is there any more. */
function nextPlace(page: Document, places: readonly Place[]): HTMLElement | null {
  const main = page.getElementById('main')
  return (
    places
      .filter(({ path }) => path === page.location.pathname)
      .reverse()
      .flatMap(({ element, holders }) => [element, ...holders])
      .find((element) => element !== main && canHaveFocus(element)) ?? main
  )
}

function canHaveFocus(element: HTMLElement): boolean {
  return element.isConnected && element.checkVisibility() && !element.matches(':disabled')
}
