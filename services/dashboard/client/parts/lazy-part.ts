import { lazy, type ComponentType, type LazyExoticComponent } from 'react'

/** A chunk that cannot be loaded: a newer build has taken its place, or nobody answers. */
export class PartMissing extends Error {
  override readonly name = 'PartMissing'
}

/** A component in a chunk of its own. */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    try {
      return { default: await load() }
    } catch (cause) {
      throw new PartMissing('a part of this page could not be loaded', { cause })
    }
  })
}

const reloadedFor = 'sluice.reloaded-for'

/** Loads the page again where the server has a newer build than this page is of: once for each build, as servers of both may answer in turn. */
export async function takeNewerBuild(): Promise<void> {
  const answer = await fetch('/', { cache: 'no-store' })
  const served = answer.ok ? entryOf(new DOMParser().parseFromString(await answer.text(), 'text/html')) : null
  if (served === null || served === entryOf(document)) return
  const tried = sessionStorage.getItem(reloadedFor)?.split(' ') ?? []
  if (tried.includes(served)) return
  sessionStorage.setItem(reloadedFor, [...tried, served].join(' '))
  window.location.reload()
}

/** The script that a build begins with, which has the hash of what is in it in its name. */
function entryOf(page: Document): string | null {
  return page.querySelector('script[type=module]')?.getAttribute('src') ?? null
}
