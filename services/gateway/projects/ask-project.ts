import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import type { Credential } from '../delivery/credentials.ts'
import { tierSchema, type Tier } from '#schemas/tiers.ts'

/** What the gateway needs to know about a project. */
export interface ProjectSettings {
  projectId: string
  tier: Tier
  /** Zero content retention. */
  isEphemeral: boolean
  /** Whether what detectors find is masked before it leaves the gateway. Absent: no. */
  masks?: boolean
  /** The key of placeholders. Undefined: the API service has none, or an earlier process asked. */
  maskKey?: Buffer
}

/** The API service rejected the credential: its earlier answers no longer apply. */
export class CredentialRefused extends Error {}

/**
 * How long cached settings are used while the API service is down. An hour is enough for a repair, while
 * calls and Kafka delivery continue. It is bounded because a cut-off gateway misses revoked keys and new
 * zero-retention settings.
 */
export const maxStaleMs = 3_600_000

/** Returns a project's settings, by default of the credential's own project. Null: no such project. */
export type AskProject = (projectId?: string) => Promise<ProjectSettings | null>

export const projectAnswer = z
  .object({
    project_id: z.string(),
    tier: tierSchema,
    zero_content_retention: z.boolean(),
    // An older API service has no project that masks.
    mask: z.boolean().default(false),
    mask_key: z.base64().optional(),
  })
  .transform(
    ({ project_id: projectId, tier, zero_content_retention: isEphemeral, ...its }): ProjectSettings => ({
      projectId,
      tier,
      isEphemeral,
      ...(its.mask && { masks: true }),
      ...(its.mask_key !== undefined && { maskKey: Buffer.from(its.mask_key, 'base64') }),
    }),
  )

const timeoutMs = 3_000

/**
 * Calls `GET /internal/project`. Rejects when the service cannot answer; with CredentialRefused on 401 and
 * 403.
 */
export function createAskProject(url: string, credential: Credential, dispatcher: Dispatcher): AskProject {
  return async (projectId) => {
    const query = projectId === undefined ? '' : `?project_id=${encodeURIComponent(projectId)}`
    const { statusCode, body } = await request(`${url}/internal/project${query}`, {
      dispatcher,
      // Includes connecting, as the gateway's start waits for the first answer.
      signal: AbortSignal.timeout(timeoutMs),
      headers: { [credential.name]: credential.value },
    })
    if (statusCode === 200) return projectAnswer.parse(await body.json())
    const text = await body.text()
    // Any other 404 means a wrong address or an old service, not an unknown project.
    if (statusCode === 404 && text.includes('"NOT_FOUND"')) return null
    const message = `the API service answered ${statusCode} about a project`
    throw statusCode === 401 || statusCode === 403 ? new CredentialRefused(message) : new Error(message)
  }
}
