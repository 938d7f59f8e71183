/** Of a project: each multiplies the series of its counts (docs/decisions/0099). */
export const maxMetadataKeys = 3

/** A metadata key by whose values a project's calls are counted. */
export interface CountedKey {
  name: string
  /** Calls before this time are not counted by it; ISO 8601. */
  counted_from: string
}

/** Without `=`, which separates key and value in a label. */
export const metadataKeyPattern = /^[A-Za-z0-9_.:/-]{1,64}$/

/** Characters of a value by which calls can be selected. */
export const longestLabelValue = 190

export const labelColumns = ['label_1', 'label_2', 'label_3'] as const

/** What a call is counted by too: its tool, and a label for each declared key that it has. */
export type CallLabels = Record<'tool_name' | (typeof labelColumns)[number], string | null>

export const labelOf = (key: string, value: string): string => `${key}=${value}`

export interface LabelledOf {
  projectUuid: string
  createdAtMs: number
  /** Its metadata is a JSON object as text. */
  call: { tool_name: string | null; metadata: string | null }
}

/** By its project's keys, in their order. Only texts, numbers and booleans are labels. */
export function labelCall(
  { call, createdAtMs }: LabelledOf,
  keys: readonly { name: string; fromMs: number }[],
): CallLabels {
  const { tool_name, metadata } = call
  const counted = keys.filter(({ fromMs }) => createdAtMs >= fromMs)
  const values = counted.length === 0 ? {} : readObject(metadata)
  const labels = counted.flatMap(({ name }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    const isLabel = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isLabel ? [labelOf(name, String(value))] : []
  })
  const [label_1 = null, label_2 = null, label_3 = null] = labels
  return { tool_name, label_1, label_2, label_3 }
}

export function hasLabel({ tool_name, label_1 }: CallLabels): boolean {
  return tool_name !== null || label_1 !== null
}

/** Metadata that is no JSON object has no labels. A row with such metadata is refused; a score keeps none. */
function readObject(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
