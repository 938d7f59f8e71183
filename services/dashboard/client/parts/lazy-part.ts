import { lazy, type ComponentType, type LazyExoticComponent } from 'react'

/** A chunk that cannot be loaded: a newer build replaced it, or the server is unreachable. */
export class ChunkMissing extends Error {
  override readonly name = 'ChunkMissing'
}

/** A component in a chunk of its own. */
export function lazyPart<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    try {
      return { default: await load() }
    } catch (cause) {
      throw new ChunkMissing('a part of this page could not be loaded', { cause })
    }
  })
}

const reloadedFor = 'sluice.reloaded-for'

/** Reloads the page for a newer build. Once per build, as servers of both may answer in turn. */
export async function reloadForNewerBuild(): Promise<void> {
  const answer = await fetch('/', { cache: 'no-store' })
  const served = answer.ok ? entryOf(new DOMParser().parseFromString(await answer.text(), 'text/html')) : null
  if (served === null || served === entryOf(document)) return
  const tried = sessionStorage.getItem(reloadedFor)?.split(' ') ?? []
  if (tried.includes(served)) return
  sessionStorage.setItem(reloadedFor, [...tried, served].join(' '))
  window.location.reload()
}

/** The build's entry script, whose name contains a content hash. */
function entryOf(page: Document): string | null {
  return page.querySelector('script[type=module]')?.getAttribute('src') ?? null
}
