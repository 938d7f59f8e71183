import { isMetadataFilter, metadataKeyOf } from '#schemas/metadata-filter.ts'

/** Dimensions that a column of the calls holds. */
export const plainDimensions = {
  model: 'model',
  provider: 'provider',
  agent: 'agent_name',
  source: 'source',
  user: 'user_id',
  project: 'project_id',
} as const
type PlainDimension = keyof typeof plainDimensions

/** What calls are grouped by. */
export type Dimension = { name: string } & ({ column: PlainDimension } | { metadataKey: string })

const maxDimensions = 2

/**
 * `model`, `metadata.team`, or two of them with a comma between. Returns what is wrong with another text.
 */
export function readDimensions(text: string): Dimension[] | string {
  const names = text.split(',')
  if (names.length > maxDimensions) return `has ${names.length} dimensions; at most ${maxDimensions}`
  if (new Set(names).size < names.length) return `has ${names[0] ?? ''} twice`
  const unknown = names.find((name) => !isPlain(name) && !isMetadataFilter(name))
  if (unknown !== undefined) {
    const known = Object.keys(plainDimensions).join(', ')
    return `has the unknown dimension ${JSON.stringify(unknown)}; known are ${known} and metadata.<key>`
  }
  return names.map((name) =>
    isPlain(name) ? { name, column: name } : { name, metadataKey: metadataKeyOf(name) },
  )
}

const isPlain = (name: string): name is PlainDimension => Object.hasOwn(plainDimensions, name)
