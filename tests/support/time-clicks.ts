import type { Locator, Page } from 'playwright-core'

/** Milliseconds since the click. */
export interface TimedClick {
  /** When the last answer of the API had arrived: the earliest possible paint. */
  answeredMs: number
  /** When the frame that shows it was complete. */
  paintedMs: number
}

const deadlineMs = 60_000

/**
 * Clicks and measures in the page how long it takes until `painted` holds: a JavaScript expression over the
 * document. In it `rows()` are the URLs of the shown rows' links and `old` their value before the click.
 */
export async function timeClick(page: Page, target: Locator, painted: string): Promise<TimedClick> {
  await page.evaluate(watch(painted))
  await target.click()
  const took = await page.evaluate<TimedClick | null>('globalThis.__timed')
  if (took === null) throw new Error(`${page.url()}: not painted after ${deadlineMs} ms`)
  return took
}

/** Waits until the expression holds. Playwright's own way needs `eval`, which the content policy forbids. */
export async function awaitShown(page: Page, shown: string): Promise<void> {
  const giveUp = `performance.now() > since + ${deadlineMs} ? resolve(false)`
  const look = `const look = () => (${shown}) ? resolve(true) : ${giveUp} : requestAnimationFrame(look)`
  const isShown = await page.evaluate<boolean>(
    `new Promise((resolve) => { const since = performance.now(); ${look}; look() })`,
  )
  if (!isShown) throw new Error(`${page.url()}: not shown after ${deadlineMs} ms: ${shown}`)
}

/** Checks on every frame. A timer set in a frame's callback runs after that frame was painted. */
function watch(painted: string): string {
  return `void (globalThis.__timed = new Promise((resolve) => {
    let clickedAt
    addEventListener('pointerdown', ({ timeStamp }) => { clickedAt ??= timeStamp }, { capture: true, once: true })
    performance.clearResourceTimings()
    const rows = () => [...document.querySelectorAll('tr[data-index] a')].map(({ href }) => href.split('?')[0]).join()
    const old = rows()
    const answeredAt = () => Math.max(clickedAt, ...performance.getEntriesByType('resource')
      .filter(({ name, startTime }) => name.includes('/bff/api/') && startTime >= clickedAt).map(({ responseEnd }) => responseEnd))
    const say = () => resolve({ answeredMs: answeredAt() - clickedAt, paintedMs: performance.now() - clickedAt })
    const look = () => {
      if (clickedAt !== undefined && (${painted})) setTimeout(say)
      else if (clickedAt !== undefined && performance.now() > clickedAt + ${deadlineMs}) resolve(null)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }))`
}

/** Shifts the page's clock by `ms`. */
export function shiftClock(ms: number): string {
  return `globalThis.Date = class extends Date {
    constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given) }
    static now() { return super.now() + ${Math.round(ms)} }
  }`
}

/** Compressed bytes of scripts loaded so far. */
export async function countScripts(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page)
  const scripts = new Set<string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await session.send('Network.enable')
  return () => bytes
}
