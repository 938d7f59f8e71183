import { z } from 'zod'
import { tierSchema } from '#schemas/tiers.ts'
import type { KeyDirectory } from '#services/ingest/access/key-directory.ts'
import type { Principal, ProjectSettings } from '#services/ingest/access/principal.ts'
import { idField } from '#services/ingest/http/fields.ts'
import { invalidInput, Problem } from '#services/ingest/http/problem.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { found } from '../http/not-found.ts'

interface GatewayRoutesOptions {
  directory: KeyDirectory
}

/** What gateways ask and tell. Keys that may log calls are enough: they are all that a gateway has. */
export function gatewayRoutes(options: GatewayRoutesOptions): Route[] {
  return [projectRoute(options)]
}

const common = { access: 'ingest', tag: 'Gateways' } as const

function projectRoute({ directory }: GatewayRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/internal/project',
    summary:
      'What a gateway has to know of the project that it records for: of the key, or the one that the operator names.',
    query: z.strictObject({
      project_id: idField('project').optional().describe('Required from the operator.'),
    }),
    reply: {
      status: 200,
      description: 'The settings.',
      schema: z.object({ project_id: z.string(), tier: tierSchema, zero_content_retention: z.boolean() }),
    },
    problems: { 404: 'There is no such project.' },
    handle: async ({ principal, query }) => {
      const project = await projectOf(directory, principal, query.project_id)
      return {
        json: {
          project_id: project.projectId,
          tier: project.tier,
          zero_content_retention: project.zeroContentRetention,
        },
      }
    },
  })
}

async function projectOf(
  directory: KeyDirectory,
  principal: Principal,
  projectId: string | undefined,
): Promise<ProjectSettings> {
  if (principal.kind === 'key') {
    const { project } = principal.key
    if (projectId === undefined || projectId === project.projectId) return project
    throw new Problem(403, 'OTHER_PROJECT', 'project_id: the API key belongs to another project')
  }
  if (projectId === undefined)
    throw invalidInput([{ path: 'project_id', message: 'is required from the operator' }])
  return found(await directory.findProject(projectId), 'project', projectId)
}
