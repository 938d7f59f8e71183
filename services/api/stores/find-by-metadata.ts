import { isStorableText } from '#http/fields.ts'
import type { ProjectDatabase } from './project-database.ts'
import type { RequestKey } from './request-columns.ts'
import type { RequestFilters } from './select-requests.ts'

/** Candidates that are looked at. If more calls match, they are not rare, and the list needs no index. */
const atMost = 1_000

export interface MetadataCandidates {
  /** Newest first. */
  keys: RequestKey[]
  /** Whether these are all. */
  isComplete: boolean
}

/**
 * The newest calls whose metadata may pass. Compares as JSON, the list as text, so that no match is missed.
 */
export async function findByMetadata(
  database: ProjectDatabase,
  { metadata, start, end }: RequestFilters,
): Promise<MetadataCandidates> {
  const pairs = Object.entries(metadata)
  const keys = await database.query<RequestKey>(
    `select c.id, c.created_at from calls_with_metadata($2::jsonb[], $3::jsonb[], $4, $5, $6) c where :scope(c)`,
    [
      pairs.map(([key, value]) => JSON.stringify({ [key]: value })),
      pairs.map(
        ([key, value]) => `{${JSON.stringify(key)}:${isJson(value) ? value : JSON.stringify(value)}}`,
      ),
      start === undefined ? null : new Date(start),
      end === undefined ? null : new Date(end),
      atMost,
    ],
  )
  return { keys, isComplete: keys.length < atMost }
}

const quoted = /"(?:[^"\\]|\\.)*"/g

/**
 * Whether a metadata value can equal the text as JSON; otherwise only text is compared. Postgres rejects NUL,
 * lone surrogates and huge exponents. It writes numbers without exponents, so text with one equals none.
 */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    // Postgres reads both values of a repeated name.
    const strings = Array.from(text.matchAll(quoted), ([string]) => JSON.parse(string) as string)
    return strings.every(isStorableText) && !/\d[eE]/.test(text.replace(quoted, '""'))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
