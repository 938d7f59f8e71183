import { z } from 'zod'

/** Whether a request to a path, which may have a query, is recorded though it is no model call. */
export type IsRecordedPath = (path: string) => boolean

const wanted = /^\/[^*?#]*\*?$/

/** `true`, `false`, or a comma-separated list of paths; one that ends in `*` stands for all that begin so. */
export function recordedPaths() {
  return z
    .string()
    .default('false')
    .transform((text) => (text === 'true' ? ['/*'] : text === 'false' ? [] : text.split(',')))
    .transform((paths) => paths.map((path) => path.trim()))
    .refine(
      (paths) => paths.every((path) => wanted.test(path)),
      'expected true, false, or paths such as /v1/files or /v1/batches/*',
    )
    .transform((paths): IsRecordedPath => {
      const matchers = paths.map(matcherOf)
      return (path) => {
        const [bare = ''] = path.split('?', 1)
        return matchers.some((matches) => matches(bare))
      }
    })
}

function matcherOf(path: string): (requested: string) => boolean {
  if (!path.endsWith('*')) return (requested) => requested === path
  const beginning = path.slice(0, -1)
  return (requested) => requested.startsWith(beginning)
}
