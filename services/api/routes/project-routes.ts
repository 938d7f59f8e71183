import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import { idField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { found, Problem } from '#http/problem.ts'
import { envelope, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { ProjectStore } from '../stores/project-store.ts'
import { definedOf, projectDefaults, projectFields } from './project-fields.ts'

const createSchema = z.strictObject({
  ...z.strictObject(projectFields).partial().shape,
  name: projectFields.name,
})
const changeSchema = z.strictObject(projectFields).partial()
const projectSchema = z.object({ id: z.string(), ...projectFields, created_at: z.iso.datetime() })
const projectParams = z.object({ id: idField('project') })

interface ProjectRoutesOptions {
  projects: ProjectStore
  directory: KeyDirectory
  defaultTier: Tier
  /** Whether there is a key for placeholders. Absent: no. */
  canMask?: boolean
  clock: Clock
}

/** The operator's routes for projects. */
export function projectRoutes(options: ProjectRoutesOptions): Route[] {
  return [createRoute(options), listRoute(options), getRoute(options), changeRoute(options)]
}

const common = { access: 'operator', tag: 'Projects' } as const

function createRoute({ projects, defaultTier, canMask = false, clock }: ProjectRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/projects',
    summary: 'Create a project. Its tier is DEFAULT_TIER unless given.',
    body: createSchema,
    reply: { status: 201, description: 'The project.', schema: projectSchema },
    problems: { 409: noMaskKeySummary },
    handle: async ({ principal, body }) => {
      requireMaskKey(body, canMask)
      const settings = { ...projectDefaults(defaultTier), ...definedOf(body), name: body.name }
      return { status: 201, json: await projects.create(principal, settings, clock.now()) }
    },
  })
}

function listRoute({ projects }: ProjectRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/projects',
    summary: 'List projects, newest first.',
    query: z.strictObject(pageFields),
    reply: { status: 200, description: 'Projects.', schema: listOf(projectSchema) },
    handle: async ({ query }) => {
      const paging = readPaging(query, 'project')
      const { items, total } = await projects.list({ limit: paging.limit, offset: paging.offset })
      return { json: envelope(paging, items, { total, isExact: true }) }
    },
  })
}

function getRoute({ projects }: ProjectRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/projects/{id}',
    summary: 'One project.',
    params: projectParams,
    reply: { status: 200, description: 'The project.', schema: projectSchema },
    problems: { 404: 'There is no such project.' },
    handle: async ({ params }) => ({ json: found(await projects.find(params.id), 'project', params.id) }),
  })
}

function changeRoute({ projects, directory, canMask = false, clock }: ProjectRoutesOptions): Route {
  return route({
    ...common,
    method: 'patch',
    path: '/api/projects/{id}',
    summary: 'Change settings of a project. They take effect at once, for scoring within 5 seconds.',
    params: projectParams,
    body: changeSchema,
    reply: { status: 200, description: 'The changed project.', schema: projectSchema },
    problems: { 404: 'There is no such project.', 409: noMaskKeySummary },
    handle: async ({ principal, params, body }) => {
      requireMaskKey(body, canMask)
      const project = await projects.update(principal, params.id, definedOf(body), clock.now())
      // The announcement reaches this process too, but perhaps after the next request.
      directory.forgetProject(params.id)
      return { json: found(project, 'project', params.id) }
    },
  })
}

const noMaskKeySummary = '`mask` needs SEARCH_KEY, which is not set.'

/** Placeholders of several processes are the same only under a key that all of them have. */
function requireMaskKey({ mask }: { mask?: boolean | undefined }, canMask: boolean): void {
  if (mask === true && !canMask)
    throw new Problem(409, 'MASKING_NEEDS_KEY', 'mask: set SEARCH_KEY of the API, ingest and gateways first')
}
