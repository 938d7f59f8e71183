import type { Clock } from '#runtime/clock.ts'
import { Problem } from '#http/problem.ts'

/** Per project, so that slow clients of one leave permits to the others. */
const maxOfProject = 2

export interface StreamPermits {
  /** The result of `begin`, while it holds a permit. Throws 429 when none is free. Null: all projects. */
  stream(
    projectId: string | null,
    begin: () => Promise<AsyncGenerator<string>>,
  ): Promise<AsyncIterable<string>>
}

export interface StreamLimits {
  /** Plural, for messages. */
  noun: string
  /** The refusal of another one. */
  refuse: (detail: string, options: { headers: Record<string, string> }) => Problem
  /** Concurrent ones of this process. */
  max: number
  /** A slower client loses its permit. */
  maxMs: number
  /** Claims what processes share; resolves to its release. Undefined: the project has no more. */
  claim?: (projectId: string) => Promise<(() => void) | undefined>
}

/** For exports of requests and of reviews together. */
export const exportLimits: StreamLimits = {
  noun: 'exports',
  refuse: (detail, options) => new Problem(429, 'EXPORTS_BUSY', detail, options),
  max: 8,
  maxMs: 3_600_000,
}

/** Permits for streamed answers of one kind, shared by its routes. */
export function createStreamPermits(clock: Clock, limits: StreamLimits): StreamPermits {
  const underWay = new Map<string | null, number>()
  return {
    async stream(projectId, begin) {
      const releases = [reserve(underWay, projectId, limits)]
      const release = () => releases.forEach((each) => each())
      const giveUpAt = clock.now() + limits.maxMs
      const checkTime = () => {
        if (clock.now() > giveUpAt)
          throw new Error(`${limits.noun} may take ${limits.maxMs} ms: the client reads too slowly`)
      }
      try {
        if (limits.claim !== undefined && projectId !== null)
          releases.push((await limits.claim(projectId)) ?? refuseOfProject(limits))
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
function reserve(
  underWay: Map<string | null, number>,
  projectId: string | null,
  limits: StreamLimits,
): () => void {
  const { noun, refuse, max } = limits
  const own = underWay.get(projectId) ?? 0
  const all = [...underWay.values()].reduce((sum, count) => sum + count, 0)
  if (own >= maxOfProject) refuseOfProject(limits)
  if (all >= max) throw tooMany(refuse, `${max} ${noun} are`)
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

function refuseOfProject({ noun, refuse }: StreamLimits): never {
  throw tooMany(refuse, `${maxOfProject} ${noun} of the project are`)
}

function tooMany(refuse: StreamLimits['refuse'], what: string): Problem {
  return refuse(`${what} under way; come back in a moment`, { headers: { 'retry-after': '10' } })
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
