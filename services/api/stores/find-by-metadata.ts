import { isStorableText } from '#http/fields.ts'
import type { ProjectDatabase } from './project-database.ts'
import type { RequestFilters, RequestKey } from './select-requests.ts'

/** So many are looked at; what more of the project's calls meet is not rare, and a list of them need not be found by index. */
const atMost = 1_000

export interface MetadataCandidates {
  /** Newest first. */
  keys: RequestKey[]
  /** Whether these are all. */
  isComplete: boolean
}

/** The newest calls whose metadata may pass: compared as JSON, where the list compares as text, so that none that passes is missing. */
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
 * Whether the text can be a value of a call's metadata as JSON: else it is compared as text alone. Postgres refuses NUL, lone surrogates and huge
 * exponents; it writes numbers without exponents, so that text with one equals none.
 */
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    // Of a name that stands there twice Postgres reads both values.
    const strings = Array.from(text.matchAll(quoted), ([string]) => JSON.parse(string) as string)
    return strings.every(isStorableText) && !/\d[eE]/.test(text.replace(quoted, '""'))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
