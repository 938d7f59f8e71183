import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { topicSettingsSchema } from '#infra/topic-settings.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

const services = join(import.meta.dirname, '..', '..', 'services')

interface Variable {
  name: string
  initial: string
  description: string
}

test('docs/configuration.md is made from the schemas, and every variable says what it is', async () => {
  const variables = new Map<string, Variable[]>()
  for (const name of globSync('*/main.ts', { cwd: services }).map(dirname).sort()) {
    const module = (await import(join(services, name, 'config.ts'))) as Record<string, unknown>
    const schema = Object.values(module).find((value): value is z.ZodObject => value instanceof z.ZodObject)
    if (schema === undefined) throw new Error(`services/${name}/config.ts exports no schema`)
    variables.set(name, variablesOf(name, schema))
  }
  const users = Map.groupBy(
    [...variables].flatMap(([service, own]) => own.map((variable) => ({ service, ...variable }))),
    ({ name, initial, description }) => JSON.stringify([name, initial, description]),
  )
  const shared = [...users.values()].filter((uses) => uses.length > 1)
  const isShared = (variable: Variable) => shared.some(([first]) => isSame(first, variable))
  const sharedRows = shared.map(([first, ...others]) => [
    ...rowOf(first),
    1 + others.length === variables.size ? 'all' : [first, ...others].map((use) => use?.service).join(', '),
  ])
  const sections = [...variables].map(([service, own]) =>
    sectionOf(service, own.filter((variable) => !isShared(variable)).map(rowOf)),
  )
  expectPage(
    'configuration.md',
    [
      introduction,
      `## Shared\n\n${tableOf([...header, 'services'], sharedRows)}\n`,
      ...sections,
      sectionOf('topics', variablesOf('topics', topicSettingsSchema).map(rowOf), topicsNote),
    ].join('\n'),
  )
})

const header = ['variable', 'default', 'what it is']
const introduction = `# Configuration

Generated from each service's \`config.ts\` by \`UPDATE_DOCS=1\`.

- Variables are read once, at the start. A process with wrong ones names them all and exits with 2.
- \`NAME_FILE\` names a file that holds the value of \`NAME\`; setting both is an error.
- An empty variable is unset.
- A service's variables are those of its section and those under [Shared](#shared) that name it.
- \`NODE_EXTRA_CA_CERTS\` is Node's own: a file of certificate authorities that every process trusts besides the
  public ones ([operations](operations.md)).
`
const topicsNote = 'For scripts/migrate, scripts/up and scripts/doctor.\n\n'

function sectionOf(name: string, rows: readonly (readonly string[])[], note = ''): string {
  return `## ${name}\n\n${note}${rows.length === 0 ? 'Shared ones only.' : tableOf(header, rows)}\n`
}

function isSame(a: Variable | undefined, b: Variable): boolean {
  return a?.name === b.name && a.initial === b.initial && a.description === b.description
}

const rowOf = (variable: Variable | undefined) =>
  variable === undefined ? [] : [`\`${variable.name}\``, variable.initial, variable.description]

function variablesOf(service: string, schema: z.ZodObject): Variable[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const description = (field as z.ZodType).description
    expect({ service, name, description }).toEqual({ service, name, description: expect.any(String) })
    return { name, initial: defaultOf(field as z.ZodType), description: description ?? '' }
  })
}

function defaultOf(field: z.ZodType): string {
  const unset = field.safeParse(undefined)
  if (!unset.success) return '*required*'
  const value = unset.data instanceof Set || unset.data instanceof Map ? [...unset.data] : unset.data
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return 'unset'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
