import { z } from 'zod'
import type { MaskKeyOf } from '#capture/masking/mask-key.ts'
import type { Clock } from '#runtime/clock.ts'
import { tierSchema } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#http/access/key-directory.ts'
import { projectOfKey, type Principal, type ProjectSettings } from '#http/access/principal.ts'
import { idField, isStorableText, timeField } from '#http/fields.ts'
import { invalidInput, Problem, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { recordGateway } from '../stores/gateway-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'

interface GatewayRoutesOptions {
  directory: KeyDirectory
  databases: ProjectDatabases
  /** Null: there is no key. */
  maskKeyOf: MaskKeyOf | null
  clock: Clock
}

/** Routes for gateways. Any key that may log calls will do: gateways have no other. */
export function gatewayRoutes(options: GatewayRoutesOptions): Route[] {
  return [projectRoute(options), heartbeatRoute(options)]
}

const common = { access: 'ingest', tag: 'Gateways' } as const

function projectRoute({ directory, maskKeyOf }: GatewayRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/internal/project',
    summary:
      "The settings that a gateway needs of its project: the key's, or the one that the operator names.",
    query: z.strictObject({
      project_id: idField('project').optional().describe('Required from the operator.'),
    }),
    reply: {
      status: 200,
      description: 'The settings.',
      schema: z.object({
        project_id: z.string(),
        tier: tierSchema,
        zero_content_retention: z.boolean(),
        mask: z.boolean().optional().describe('Whether calls are masked before they are stored. Absent: no.'),
        mask_key: z
          .string()
          .optional()
          .describe('Base64 of the key of placeholders, where the project masks.'),
      }),
    },
    problems: { 404: 'There is no such project.' },
    handle: async ({ principal, query }) => {
      const project = await projectOf(directory, principal, query.project_id)
      return {
        json: {
          project_id: project.projectId,
          tier: project.tier,
          zero_content_retention: project.zeroContentRetention,
          ...maskingOf(project, maskKeyOf),
        },
      }
    },
  })
}

function maskingOf({ projectId, masks = false }: ProjectSettings, maskKeyOf: MaskKeyOf | null) {
  if (!masks) return {}
  if (maskKeyOf === null) return { mask: masks }
  return { mask: masks, mask_key: maskKeyOf(projectId).toString('base64') }
}

async function projectOf(
  directory: KeyDirectory,
  principal: Principal,
  projectId: string | undefined,
): Promise<ProjectSettings> {
  if (principal.kind === 'key') return projectOfKey(principal.key, projectId)
  if (projectId === undefined)
    throw invalidInput([{ path: 'project_id', message: 'is required from the operator' }])
  return found(await directory.findProject(projectId), 'project', projectId)
}

const count = z.number().int().min(0)
/** A map from short names that gateways choose. */
function byName<T extends z.ZodType>(value: T) {
  return z
    .record(z.string().regex(/^[a-z_]{1,32}$/, 'must be 1 to 32 small letters or underscores'), value)
    .refine((map) => Object.keys(map).length <= 32, 'must have at most 32 members')
}

/** Unknown members are ignored, so that newer gateways can talk to an older API. */
const heartbeatSchema = z.object({
  name: z
    .string()
    .regex(/^[A-Za-z0-9._:/-]{1,128}$/, 'must be 1 to 128 letters, digits or any of . _ : / -')
    .describe('Stable across restarts of a gateway: a report replaces its last one.'),
  version: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 printable characters'),
  delivery: z.enum(['api', 'kafka']),
  started_at: timeField,
  spool: z.object({ records: count, bytes: count, oldest_at: timeField.nullable() }),
  lost: byName(count).describe('Records lost since it started, by reason.'),
  left_out: z
    .record(z.union([idField('project'), z.literal('')]), byName(count))
    .refine((map) => Object.keys(map).length <= 1_001, 'must have at most 1,001 members')
    .default({})
    .describe('Calls forwarded and not recorded since it started, by project and reason.'),
  problems: byName(z.string().max(500).refine(isStorableText, 'must be Unicode text without NUL characters')),
})

function heartbeatRoute({ databases, clock }: GatewayRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/internal/gateways/heartbeat',
    summary: 'The state of a gateway: its spool, lost records and problems.',
    body: heartbeatSchema,
    reply: { status: 204, description: 'Stored in place of the last report.' },
    problems: { 409: 'The project has 1,000 gateways that reported within a day.' },
    handle: async ({ principal, body }) => {
      const { started_at: startedAtMs, spool, left_out: leftOut, ...report } = body
      const { records, bytes, oldest_at: oldestAtMs } = spool
      const noted = await recordGateway(
        databases.of(principal, undefined),
        { ...report, leftOut, startedAtMs, spool: { records, bytes, oldestAtMs } },
        clock.now(),
      )
      if (!noted) throw new Problem(409, 'GATEWAYS_TOO_MANY', 'the project has 1,000 gateways already')
      return {}
    },
  })
}
