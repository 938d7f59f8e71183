/** An element that had focus, its page, and its focusable ancestors. */
interface Place {
  element: HTMLElement
  holders: readonly HTMLElement[]
  path: string
}

/** Maximum history of focus. */
const remembered = 20

/**
 * Restores focus for keyboard users. A focused element may be removed (a dialog, a filter, the last "Older")
 * or disabled for a while, and browsers then restart at the top of the page. Returns a function that ends it.
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
  // A click elsewhere abandons the element. On touch screens focus moves only after the last pointer event.
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
    // Disabled for the moment; it can take focus again soon.
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

/** The last focused element, else its container, else an earlier one; the page itself if all are gone. */
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
