import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { topicSettingsSchema } from '#infra/topic-settings.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

const services = join(import.meta.dirname, '..', '..', 'services')

test('docs/configuration.md is made from the schemas, and every variable says what it is', async () => {
  const sections: string[] = []
  for (const name of globSync('*/main.ts', { cwd: services }).map(dirname).sort()) {
    const module = (await import(join(services, name, 'config.ts'))) as Record<string, unknown>
    const schema = Object.values(module).find((value): value is z.ZodObject => value instanceof z.ZodObject)
    if (schema === undefined) throw new Error(`services/${name}/config.ts exports no schema`)
    sections.push(`## ${name}\n\n${tableOf(['variable', 'default', 'what it is'], rowsOf(name, schema))}\n`)
  }
  const topicRows = rowsOf('topics', topicSettingsSchema)
  sections.push(
    `## topics\n\nOf scripts/migrate, scripts/up and scripts/doctor.\n\n${tableOf(['variable', 'default', 'what it is'], topicRows)}\n`,
  )
  expectPage(
    'configuration.md',
    `# Configuration\n\nMade from each service's \`config.ts\`; \`UPDATE_DOCS=1\` before \`tests/documentation\` writes it anew. Variables are read once, at the start;
a process with wrong ones names them all and exits with 2. \`NAME_FILE\` names a file that holds the value of \`NAME\`; both set is wrong. An empty variable is an unset one.
\`NODE_EXTRA_CA_CERTS\` is Node's own: a file of certificate authorities that every process believes besides the public ones ([operations](operations.md)).\n\n${sections.join('\n')}`,
  )
})

function rowsOf(service: string, schema: z.ZodObject): string[][] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const description = (field as z.ZodType).description
    expect({ service, name, description }).toEqual({ service, name, description: expect.any(String) })
    return [`\`${name}\``, defaultOf(field as z.ZodType), description ?? '']
  })
}

function defaultOf(field: z.ZodType): string {
  const unset = field.safeParse(undefined)
  if (!unset.success) return '*required*'
  const value = unset.data instanceof Set || unset.data instanceof Map ? [...unset.data] : unset.data
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return 'unset'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
