import type { Excerpt } from '#capture/search/find-in-call.ts'
import { readSearch, wordsToFind } from '#capture/search/search-query.ts'
import type { HashWord } from '#capture/search/search-signature.ts'
import type { Clock } from '#runtime/clock.ts'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import { dayMs } from '../http/time-range.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import type { RequestItem } from '../stores/request-store.ts'
import { createSearchStore, type Needed } from '../stores/search-store.ts'
import type { RequestFilters } from '../stores/select-requests.ts'
import { findAmong } from './find-among.ts'
import type { FindThread } from './find-thread.ts'
import { slicesOf } from './search-steps.ts'

/** What a search says while it runs, a line each. */
export type SearchEvent =
  | ({ type: 'progress' } & SearchProgress)
  | { type: 'match'; request: RequestItem; excerpts: Excerpt[] }
  | ({ type: 'end'; reason: 'complete' | 'limit' | 'time'; after: string | null } & SearchProgress)

export interface SearchProgress {
  looked_at: number
  opened: number
  unsigned: number
  unreadable: number
  reached: string
  share: number
}

export interface Search {
  /** Has at least one word (`readSearch`). */
  text: string
  filters: RequestFilters
  /** Only calls older than this one. */
  after: string | undefined
  maxMatches: number
}

export interface SearchDependencies {
  database: ProjectDatabase<OneProject>
  /** One for each key of SEARCH_KEY. */
  hashers: readonly { keyId: string; hash: HashWord }[]
  thread: FindThread
  clock: Clock
  maxMs: number
}

/** Newest first. Every statement and every task of the thread is small, so others have their turns. */
export async function* searchCalls(
  dependencies: SearchDependencies,
  search: Search,
): AsyncGenerator<SearchEvent> {
  const { database, clock, maxMs } = dependencies
  const store = createSearchStore(database)
  const beganMs = clock.now()
  const range = await rangeOf(search, (sinceMs) => store.oldestMs(sinceMs), beganMs)
  const progress = createProgress(range, beganMs)
  const needed = neededBy(dependencies, search)
  let left = search.maxMatches
  const isOver = () => clock.now() - beganMs > maxMs
  for await (const slice of slicesOf(
    (part) => store.readSlice(part, needed),
    range,
    () => clock.now(),
  )) {
    progress.looked_at += slice.lookedAt
    progress.unsigned += slice.unsigned
    for await (const found of findAmong(dependencies, search, slice.candidates)) {
      progress.opened += found.opened
      progress.unreadable += found.unreadable
      for (const match of found.matches) {
        yield { type: 'match', ...match }
        if (--left === 0) {
          yield endAt('limit', idToUuid(match.request.id), progress)
          return
        }
      }
      yield { type: 'progress', ...progress.at(timeOf(found.last)) }
      if (isOver()) {
        yield endAt('time', found.last, progress)
        return
      }
    }
    yield { type: 'progress', ...progress.at(timeOf(slice.last)) }
    if (isOver()) {
      yield endAt('time', slice.last, progress)
      return
    }
  }
  yield { type: 'end', reason: 'complete', after: null, ...progress.at(range.startMs) }
}

const timeOf = (uuid: string) => idTimeMs(idFromUuid('request', uuid))

function endAt(
  reason: 'limit' | 'time',
  last: string,
  progress: ReturnType<typeof createProgress>,
): SearchEvent {
  return { type: 'end', reason, after: idFromUuid('request', last), ...progress.at(timeOf(last)) }
}

/** From the oldest call with bodies. Clients' clocks may be ahead, by a day at most. */
async function rangeOf(
  { filters: { start = 0, end = Infinity }, after }: Search,
  oldestMs: (sinceMs: number) => Promise<number | undefined>,
  nowMs: number,
) {
  const endMs = Math.min(end, after === undefined ? nowMs + dayMs : idTimeMs(after) + 1)
  const startMs = (await oldestMs(start)) ?? endMs
  return { startMs, endMs, before: after === undefined ? null : idToUuid(after) }
}

function createProgress({ startMs, endMs }: { startMs: number; endMs: number }, nowMs: number) {
  const newestMs = Math.min(endMs, nowMs)
  return {
    looked_at: 0,
    opened: 0,
    unsigned: 0,
    unreadable: 0,
    /** Once all calls since then have been looked through. */
    at(reachedMs: number): SearchProgress {
      const { looked_at, opened, unsigned, unreadable } = this
      const share = newestMs <= startMs ? 1 : (newestMs - reachedMs) / (newestMs - startMs)
      return {
        ...{ looked_at, opened, unsigned, unreadable },
        reached: new Date(Math.min(reachedMs, newestMs)).toISOString(),
        share: Math.min(1, Math.max(0, share)),
      }
    },
  }
}

/** Without words that a signature can deny, as a single Chinese character, every call is opened. */
function neededBy({ database, hashers }: SearchDependencies, { text }: Search): Needed[] {
  const words = wordsToFind(readSearch(text) ?? [])
  return hashers.map(({ keyId, hash }) => ({
    keyId,
    hashes: words.map((word) => hash(database.scope.projectId, word)),
  }))
}
