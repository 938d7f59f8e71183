import type { CelInput } from '@bufbuild/cel'

/** Values for expressions, with direct access to their fields. */
export type FilterValues = Readonly<Record<string, CelInput>>

/**
 * Makes maps of the objects in `values`, which are JSON. CEL would convert an object at each access, and
 * refuses one with a field `constructor`. Not recursive: callers of tools decide how deep arguments go.
 */
export function toFilterValues(values: Readonly<Record<string, unknown>>): FilterValues {
  const whole = new Map<string, CelInput>()
  const open: [object, Map<string, CelInput> | CelInput[]][] = [[values, whole]]
  for (const [from, to] of open) {
    for (const [name, value] of Object.entries<unknown>(from as Record<string, unknown>)) {
      const made = shallow(value)
      if (to instanceof Map) to.set(name, made)
      else to.push(made)
      if (made instanceof Map || Array.isArray(made)) open.push([value as object, made])
    }
  }
  return Object.fromEntries(whole)
}

function shallow(value: unknown): Map<string, CelInput> | CelInput[] | string | number | boolean | null {
  if (typeof value !== 'object' || value === null) return value as string | number | boolean | null
  return Array.isArray(value) ? [] : new Map()
}
