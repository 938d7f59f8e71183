import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { messageOf } from '#runtime/errors.ts'
import { parseInitFile } from './init-file.ts'

const digits = '0123456789abcdef'.repeat(3)

/** The faults of a file, line by line; empty: none. */
function faultsOf(text: string, environment: Record<string, string> = {}): string[] {
  try {
    parseInitFile(text, environment)
    return []
  } catch (error) {
    return messageOf(error)
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

const hook = 'url: https://a.example, events: [usage_alert], secret: 0123456789abcdef01234567'

test.each([
  ['[unclosed', /^the file: /],
  ['projects: 1', /^projects: .*array/],
  ['project: []', /^project: is not known here/],
  ['projects: [{ ref: a }]', /^projects.0.name: is required/],
  ['projects: [{ ref: A, name: a }]', /^projects.0.ref: must be 1 to 63 small letters/],
  ['projects: [{ ref: a, name: a, colour: red }]', /^projects.0.colour: is not known here/],
  ['projects: [{ ref: a, name: a }, { ref: a, name: b }]', /^projects.1.ref: is declared twice/],
  [
    'projects: [{ ref: a, name: a, keys: [{ name: k, key: svc_short }] }]',
    /^projects.0.keys.0.key: must be svc_/,
  ],
  [
    `projects: [{ ref: a, name: a, webhooks: [{ ${hook} }, { ${hook} }] }]`,
    /^projects.0.webhooks.1.url: .*twice/,
  ],
  ['people: [{ login: a, name: A, role: king }]', /^people.0.role: /],
  ['people: [{ login: a, name: A, role: admin, initial_password: short }]', /^people.0.initial_password: /],
  ['people: [{ login: a, name: A, role: viewer, projects: [b] }]', /^people.0.projects.0: names b, which no/],
  [
    'projects: [{ ref: a, name: "${NOWHERE}" }]',
    /^projects.0.name: names the variable NOWHERE, which is not/,
  ],
  ['projects: [{ ref: a, name: "${file:/none}" }]', /^projects.0.name: names the file \/none, which cannot/],
])('%s is refused, by its field', (text, fault) => {
  expect(faultsOf(text)).toEqual([expect.stringMatching(fault)])
})

test('all faults are told at once, and no value', () => {
  const text = 'projects: [{ ref: a, keys: [{ name: k, key: svc_secret }] }]\npeople: [{ login: a b }]'
  const faults = faultsOf(text)
  expect(faults.map((fault) => fault.split(':')[0])).toEqual([
    'projects.0.name',
    'projects.0.keys.0.key',
    'people.0.login',
    'people.0.name',
    'people.0.role',
  ])
  expect(faults.join()).not.toContain('svc_secret')
})

test('a whole text may stand in a variable or a file; JSON is YAML; nothing declares nothing', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-init-')), 'key')
  writeFileSync(file, `svc_${digits}\n`)
  const text = JSON.stringify({
    projects: [
      {
        ref: 'a',
        name: '${NAME}',
        keys: [{ name: 'not ${NAME}', key: `\${file:${file}}` }],
      },
    ],
  })
  const { projects } = parseInitFile(text, { NAME: 'Payments: ${NAME}' })
  expect(projects).toMatchObject([
    { name: 'Payments: ${NAME}', keys: [{ name: 'not ${NAME}', scope: 'all', key: `svc_${digits}` }] },
  ])
  expect(parseInitFile('', {})).toEqual({ projects: [], people: [] })
})
