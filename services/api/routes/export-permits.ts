import type { Clock } from '#runtime/clock.ts'
import { Problem } from '#http/problem.ts'

/** Concurrent exports of one process. */
const maxExports = 8
/** Per project, so that slow clients of one leave permits to the others. */
const maxOfProject = 2
/** A slower client loses its permit. */
const maxExportMs = 3_600_000

export interface ExportPermits {
  /** The result of `begin`, while it holds a permit. Throws 429 when none is free. Null: all projects. */
  export(
    projectId: string | null,
    begin: () => Promise<AsyncGenerator<string>>,
  ): Promise<AsyncIterable<string>>
}

/** Permits for exports, shared by the routes that export. */
export function createExportPermits(clock: Clock): ExportPermits {
  const underWay = new Map<string | null, number>()
  return {
    async export(projectId, begin) {
      const release = reserve(underWay, projectId)
      const giveUpAt = clock.now() + maxExportMs
      const checkTime = () => {
        if (clock.now() > giveUpAt) throw new Error(`an export took longer than ${maxExportMs} ms`)
      }
      try {
        return endingWith(release, await begin(), checkTime)
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

/**
 * Acquired before the first await, so that concurrent requests cannot exceed the limit. Returns the release,
 * which works once.
 */
function reserve(underWay: Map<string | null, number>, projectId: string | null): () => void {
  const own = underWay.get(projectId) ?? 0
  const all = [...underWay.values()].reduce((sum, count) => sum + count, 0)
  if (own >= maxOfProject) throw tooMany(`${maxOfProject} exports of the project are`)
  if (all >= maxExports) throw tooMany(`${maxExports} exports are`)
  underWay.set(projectId, own + 1)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    const left = (underWay.get(projectId) ?? 0) - 1
    if (left > 0) underWay.set(projectId, left)
    else underWay.delete(projectId)
  }
}

function tooMany(what: string): Problem {
  return new Problem(429, 'EXPORTS_BUSY', `${what} under way here; come back in a moment`, {
    headers: { 'retry-after': '10' },
  })
}

/** `source` with `release` at its end. A `finally` in the generator would not run if it is never read. */
function endingWith(
  release: () => void,
  source: AsyncGenerator<string>,
  checkTime: () => void,
): AsyncIterable<string> {
  const next = async () => {
    try {
      checkTime()
      const step = await source.next()
      if (step.done === true) release()
      return step
    } catch (error) {
      release()
      throw error
    }
  }
  const end = async () => {
    try {
      return await source.return(undefined)
    } finally {
      release()
    }
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
}
