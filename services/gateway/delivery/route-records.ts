import { TransientError } from '#runtime/errors.ts'
import type { PostRecords, Verdict } from './post-records.ts'

/** How to deliver a record; null: this gateway has no credential for it. */
export type RouteOf = (record: Buffer) => PostRecords | null

/** Delivers each record by its route. A failing route blocks only its own records; throws when all fail. */
export function createRoutedDelivery(routeOf: RouteOf): PostRecords {
  return async (records) => {
    const verdicts = new Map<Buffer, Verdict>()
    const failures: TransientError[] = []
    const groups = Map.groupBy(records, routeOf)
    for (const [route, group] of groups) {
      const decided = route === null ? null : await orFailure(route, group)
      if (decided instanceof TransientError) failures.push(decided)
      group.forEach((record, index) => verdicts.set(record, verdictOf(decided, index)))
    }
    const [failure] = failures
    if (failure !== undefined && failures.length === groups.size) throw failure
    return records.map((record) => verdicts.get(record) ?? { kind: 'later' })
  }
}

function verdictOf(decided: readonly Verdict[] | TransientError | null, index: number): Verdict {
  if (decided === null) return { kind: 'unsendable' }
  return decided instanceof TransientError ? { kind: 'later' } : (decided[index] ?? { kind: 'later' })
}

async function orFailure(
  route: PostRecords,
  records: readonly Buffer[],
): Promise<readonly Verdict[] | TransientError> {
  try {
    return await route(records)
  } catch (error) {
    if (error instanceof TransientError) return error
    throw error
  }
}

const namesProject = /^\{"id":"[^"]{1,64}","project_id":"([^"]{1,64})"/
const headBytes = 200

/**
 * The project that a record names. It is at the start (recording/build-record.ts), so the bodies need no
 * parsing.
 */
export function projectNamedBy(record: Buffer): string | undefined {
  return namesProject.exec(record.toString('latin1', 0, headBytes))?.[1]
}

interface Routes {
  /** Identifier of the project of SERVICE_API_KEY; undefined without that key. */
  ownProject: (() => string | undefined) | undefined
  /** Delivers as that project; undefined without SERVICE_API_KEY. */
  asOwn: PostRecords | undefined
  /** Delivers as the operator, for any project; undefined without INTERNAL_API_SECRET. */
  asOperator: PostRecords | undefined
}

/**
 * Sends records of the key's own project with the key, others with the operator's secret. A spool may hold
 * records written under another GATEWAY_AUTH.
 */
export function createRouteOf({ ownProject, asOwn, asOperator }: Routes): RouteOf {
  return (record) => {
    const named = projectNamedBy(record)
    const own = ownProject?.()
    const isOwn = named === undefined || named === own
    if (isOwn) return asOwn ?? null
    if (asOperator !== undefined) return asOperator
    // The key's project is not known yet; sending finds out.
    return own === undefined && asOwn !== undefined ? asOwn : null
  }
}
