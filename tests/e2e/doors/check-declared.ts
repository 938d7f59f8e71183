import { conversations } from './conversations.ts'
import type { Difference } from './compare.ts'
import { declared } from './differences.ts'
import type { Door } from './doors.ts'

/** Throws if differences are not declared, or declared ones do not exist. */
export function checkDeclared(door: Pick<Door, 'title' | 'by'>, found: readonly Difference[]): void {
  const expected = new Set(
    declared(door).flatMap(({ fields, in: names = conversations.map(({ name }) => name) }) =>
      fields.flatMap((field) => names.map((name) => `${field} of ${name}`)),
    ),
  )
  const nameOf = ({ field, conversation }: Difference) => `${field} of ${conversation}`
  const undeclared = found.filter((one) => !expected.has(nameOf(one)))
  const actual = new Set(found.map(nameOf))
  const gone = [...expected].filter((name) => !actual.has(name))
  if (undeclared.length === 0 && gone.length === 0) return
  const shown = [...Map.groupBy(undeclared, ({ field }) => field)].map(([field, some]) => {
    const [{ door: by, gateway } = { door: null, gateway: null }] = some
    const names = some.map(({ conversation }) => conversation).join('; ')
    return `\n  ${field} of ${names}: for instance ${short(by)} instead of ${short(gateway)}`
  })
  throw new Error(`not declared: ${shown.join('') || 'none'}\n  no longer so: ${gone.join('; ') || 'none'}`)
}

function short(value: unknown): string {
  return JSON.stringify(value).slice(0, 300)
}
