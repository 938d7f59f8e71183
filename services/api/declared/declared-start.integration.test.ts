import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startApi } from '#tests/support/start-api.ts'

const key = `svc_${'0123456789abcdef'.repeat(3)}`
const directory = mkdtempSync(join(tmpdir(), 'sluice-init-'))

function fileOf(text: string): { SLUICE_INIT_FILE: string } {
  const path = join(directory, 'init.yaml')
  writeFileSync(path, text)
  return { SLUICE_INIT_FILE: path }
}

test('an API that answers has applied its file: the declared key works, the administrator can sign in', async () => {
  writeFileSync(join(directory, 'key'), `${key}\n`)
  const api = await startApi(
    fileOf(`
projects:
  - ref: first
    name: First project
    keys: [{ name: gateway, key: '\${file:${join(directory, 'key')}}' }]
people:
  - { login: root, name: Root, role: admin, initial_password: a long first password }
`),
  )
  try {
    expect((await api.call('GET', '/api/requests', { key })).status).toBe(200)
    const login = { login: 'root', password: 'a long first password' }
    const signedIn = await api.call('POST', '/internal/people/sign-in', { operator: true, body: login })
    expect(signedIn.status).toBe(201)
    const first = await api.call('POST', '/internal/people/first', { operator: true, body: {} })
    expect(first.json).toEqual({ created: false })
  } finally {
    await api.stop()
  }
})

test('an API with a wrong file does not start', async () => {
  const started = startApi(fileOf('projects: [{ ref: first }]'))
  await expect(started).rejects.toThrow('projects.0.name: is required')
})
