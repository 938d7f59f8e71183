import type { Excerpt } from '#capture/search/find-in-call.ts'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { createRequestStore, type RequestItem } from '../stores/request-store.ts'
import { createSearchStore } from '../stores/search-store.ts'
import type { RequestFilters } from '../stores/select-requests.ts'
import type { FindThread } from './find-thread.ts'
import { batchesOf } from './search-steps.ts'

/** Candidates whose filters are checked by one statement. */
const maxChecked = 200
/** Opened together. The thread is another search's turn afterwards. */
const opened = { maxCount: 32, maxBytes: 4 * 1024 * 1024 }

export interface FoundAmong {
  opened: number
  /** Calls that could not be opened. */
  unreadable: number
  matches: { request: RequestItem; excerpts: Excerpt[] }[]
  /** The UUID up to which all candidates have been looked through. */
  last: string
}

/** Opens those of the candidates, newest first, that pass the filters. */
export async function* findAmong(
  { database, thread }: { database: ProjectDatabase<OneProject>; thread: FindThread },
  { text, filters }: { text: string; filters: RequestFilters },
  candidates: readonly string[],
): AsyncGenerator<FoundAmong> {
  const [requests, store] = [createRequestStore(database), createSearchStore(database)]
  const itemsOf = async (uuids: readonly string[]) => {
    const items = uuids.length === 0 ? [] : await requests.among(filters, uuids.map(keyOf))
    return new Map(items.map((item) => [idToUuid(item.id), item]))
  }
  for (let at = 0; at < candidates.length; at += maxChecked) {
    const chunk = candidates.slice(at, at + maxChecked)
    const end = chunk.at(-1) ?? ''
    const passing = isUnfiltered(filters) ? undefined : await itemsOf(chunk)
    const wanted = passing === undefined ? chunk : chunk.filter((uuid) => passing.has(uuid))
    const sizes = wanted.length === 0 ? [] : await store.sizesOf(wanted)
    const batches = batchesOf(sizes, opened)
    for (const [index, batch] of batches.entries()) {
      const calls = await store.readBodies(batch.map(({ id }) => id))
      const found = await thread.find({ projectId: database.scope.projectId, text, calls })
      const matched = calls.flatMap(({ id }, place) => {
        const excerpts = found[place]
        return Array.isArray(excerpts) ? [{ uuid: idToUuid(id), excerpts }] : []
      })
      const items = passing ?? (await itemsOf(matched.map(({ uuid }) => uuid)))
      yield {
        opened: calls.length,
        unreadable: found.filter((each) => each === 'unreadable').length,
        matches: matched.flatMap(({ uuid, excerpts }) => {
          const request = items.get(uuid)
          return request === undefined ? [] : [{ request, excerpts }]
        }),
        last: index === batches.length - 1 ? end : (batch.at(-1)?.id ?? end),
      }
    }
    if (batches.length === 0) yield { opened: 0, unreadable: 0, matches: [], last: end }
  }
}

const keyOf = (uuid: string) => ({ id: uuid, created_at: new Date(idTimeMs(idFromUuid('request', uuid))) })

/** Whether only project and time select. */
function isUnfiltered({ metadata, ...fields }: RequestFilters): boolean {
  const { start: _start, end: _end, ...others } = fields
  return Object.keys(metadata).length === 0 && Object.values(others).every((value) => value === undefined)
}
