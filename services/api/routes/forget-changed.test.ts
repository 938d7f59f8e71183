import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { newId } from '#schemas/ids.ts'
import type { Route } from '#http/route.ts'
import type { KeyAdminStore } from '../stores/key-admin-store.ts'
import type { Project, ProjectStore } from '../stores/project-store.ts'
import { keyRoutes } from './key-routes.ts'
import { projectRoutes } from './project-routes.ts'

const id = newId('project')

/** Routes over stores and a directory that record the order of their calls. */
function setUp() {
  const done: string[] = []
  const stored = () => new Promise<void>((resolve) => setImmediate(resolve)).then(() => done.push('stored'))
  const nothing = () => Promise.resolve(undefined)
  const directory = {
    findKey: nothing,
    findProject: nothing,
    forgetProject: (projectId: string | null) => void done.push(`forgot ${projectId}`),
  }
  const update = () => stored().then(() => ({ id }) as Project)
  const projects = { update } as Partial<ProjectStore> as ProjectStore
  const keys = { revoke: () => stored().then(() => true) } as Partial<KeyAdminStore> as KeyAdminStore
  const routes: Route[] = [
    ...keyRoutes({ projects, keys, directory, clock: systemClock }),
    ...projectRoutes({ projects, directory, defaultTier: 'free', clock: systemClock }),
  ]
  return { done, routes }
}

test.each([
  ['delete', '/api/projects/{id}/keys/{key_id}'],
  ['patch', '/api/projects/{id}'],
])('%s %s counts in the process that answers it before it does', async (method, path) => {
  const { done, routes } = setUp()
  const route = routes.find((each) => each.method === method && each.path === path)
  await route?.handle({
    principal: { kind: 'operator' },
    params: { id, key_id: newId('key') },
    query: {},
    body: { zero_content_retention: true },
    headers: {},
    reserveBodyBudget: () => undefined,
    reserveAnswerBudget: () => undefined,
  })
  expect(done).toEqual(['stored', `forgot ${id}`])
})
