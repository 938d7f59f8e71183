import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { messageOf } from '#runtime/errors.ts'
import { keyOf, openFixture, webhook } from './testing/apply-file.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>

beforeAll(async () => {
  fixture = await openFixture()
  await fixture.apply({
    projects: [{ ref: 'payments', name: 'Payments', keys: [{ name: 'gateway', key: keyOf('a') }] }],
    people: [
      { login: 'root@example.com', name: 'Root', role: 'admin', initial_password: 'a long first password' },
    ],
  })
})
afterAll(() => fixture.stop())

const project = { ref: 'bad', name: 'Bad' }
const unknown = 'prj_00000000000000000000000001'

test.each([
  [
    { projects: [{ ...project, keys: [{ name: 'k', key: keyOf('a') }] }] },
    /projects\.0\.keys\.0\.key: is a key of another project/,
  ],
  [
    { projects: [project, { ref: 'worse', id: unknown, name: 'W' }] },
    /projects\.1\.id: names a project that does not exist/,
  ],
  [
    { projects: [project], people: [{ login: 'root@example.com', name: 'Root', role: 'viewer' }] },
    /people: would leave no administrator/,
  ],
  [
    {
      projects: [project],
      people: [
        { login: 'a-long-login-name', name: 'A', role: 'viewer', initial_password: 'A-long-login-name' },
      ],
    },
    /people\.0\.initial_password: must not be the login/,
  ],
  [
    { projects: [{ ...project, webhooks: [{ ...webhook, url: 'http://plain.example.com' }] }] },
    /projects\.0\.webhooks\.0\.url: /,
  ],
  [
    { projects: [{ ...project, webhooks: [{ ...webhook, filter_expression: 'event ==' }] }] },
    /projects\.0\.webhooks\.0\.filter_expression: /,
  ],
])('of a file with a fault nothing is applied: %j', async (file, fault) => {
  const before = await fixture.snapshot()
  await expect(fixture.apply(file).catch(messageOf)).resolves.toMatch(fault)
  expect(await fixture.snapshot()).toEqual(before)
})

test('a webhook to an internal address is refused', async () => {
  const file = { projects: [{ ...project, webhooks: [webhook] }] }
  const refused = fixture.apply(file, () => Promise.resolve(['10.0.0.1'])).catch(messageOf)
  await expect(refused).resolves.toContain('projects.0.webhooks.0.url: must not lead to an internal address')
})
