import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { maxMetadataKeys, metadataKeyPattern } from '#schemas/call-labels.ts'
import { contentDays } from '#schemas/content-retention.ts'
import { tierSchema, type Tier } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import { idField, textField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { found, Problem } from '#http/problem.ts'
import { envelope, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { ProjectSettingsInput, ProjectStore } from '../stores/project-store.ts'

const settingsFields = {
  name: textField(200),
  tier: tierSchema,
  zero_content_retention: z.boolean().describe('Bodies are scored and never kept.'),
  mask: z
    .boolean()
    .describe(
      'What detectors find of personal data and secrets is masked before a call is stored or scored (docs/masking.md). Needs SEARCH_KEY.',
    ),
  retention_days: z
    .number()
    .int()
    .min(1)
    .max(contentDays)
    .nullable()
    .describe(`Bodies are erased after so many days; null: ${contentDays}.`),
  cost_alert_usd: z
    .number()
    .min(0)
    .nullable()
    .describe('A `usage_alert` is raised when the period has cost this much; 0: with the first cost.'),
  quota_warning_percent: z.number().int().min(1).max(100).nullable(),
  judge_mode: z
    .enum(['always', 'uncertain', 'never'])
    .describe(
      'The calls that the judge reads after the detectors: all, those that detectors are unsure of, or none.',
    ),
  judge_usd_per_period: z
    .number()
    .min(0)
    .nullable()
    .describe(
      "Limit of the judge's cost per period in US dollars; null: none. Above it scores are `unscored` (`budget_spent`).",
    ),
  sampling: z
    .record(textField(100), z.number().min(0).max(1))
    .describe(
      'Share of requests scored (0 to 1), by scorer; other scorers score all. Selected by a hash of the request.',
    ),
  metadata_keys: z
    .array(z.string().regex(metadataKeyPattern, 'must be 1 to 64 letters, digits or any of _ . : / -'))
    .max(maxMetadataKeys)
    .refine((keys) => new Set(keys).size === keys.length, 'must not name a key twice')
    .describe(
      'Metadata keys by whose values calls are counted, from the second minute on; alert rules filter by them. Counts outlive the calls: no key whose values name people.',
    ),
}

const createSchema = z.strictObject({
  ...z.strictObject(settingsFields).partial().shape,
  name: settingsFields.name,
})
const changeSchema = z.strictObject(settingsFields).partial()
const projectSchema = z.object({ id: z.string(), ...settingsFields, created_at: z.iso.datetime() })
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
  const defaults: Omit<ProjectSettingsInput, 'name'> = {
    tier: defaultTier,
    zero_content_retention: false,
    mask: false,
    retention_days: null,
    cost_alert_usd: null,
    quota_warning_percent: null,
    judge_mode: 'always',
    judge_usd_per_period: null,
    sampling: {},
    metadata_keys: [],
  }
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
      const settings = { ...defaults, ...definedOf(body), name: body.name }
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

/** Without undefined members. */
function definedOf<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
