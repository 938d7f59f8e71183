import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import type { Credential } from '../delivery/credentials.ts'
import { tierSchema, type Tier } from '#schemas/tiers.ts'

/** What the gateway has to know of a project. */
export interface ProjectSettings {
  projectId: string
  tier: Tier
  /** Whether it keeps no content. */
  isEphemeral: boolean
}

/** The API service does not take the credential (any more): what it said to it before holds no longer. */
export class CredentialRefused extends Error {}

/**
 * How long what the API service said last holds while it is away. Long enough to mend it: applications call on, and Kafka takes their records. Not
 * for ever: a gateway that is cut off alone does not hear of keys that are revoked, nor of projects that keep no content from now on.
 */
export const maxStaleMs = 3_600_000

/** Settings of a project; of the credential's own when none is named. Null: there is no such project. */
export type AskProject = (projectId?: string) => Promise<ProjectSettings | null>

export const projectAnswer = z
  .object({ project_id: z.string(), tier: tierSchema, zero_content_retention: z.boolean() })
  .transform(({ project_id: projectId, tier, zero_content_retention: isEphemeral }): ProjectSettings => ({
    projectId,
    tier,
    isEphemeral,
  }))

const timeoutMs = 3_000

/** Asks `GET /internal/project`. Rejects when the API service does not say, with CredentialRefused when it says it to others. */
export function createAskProject(url: string, credential: Credential, dispatcher: Dispatcher): AskProject {
  return async (projectId) => {
    const query = projectId === undefined ? '' : `?project_id=${encodeURIComponent(projectId)}`
    const { statusCode, body } = await request(`${url}/internal/project${query}`, {
      dispatcher,
      // Connecting included: the start of a gateway waits for the first answer.
      signal: AbortSignal.timeout(timeoutMs),
      headers: { [credential.name]: credential.value },
    })
    if (statusCode === 200) return projectAnswer.parse(await body.json())
    const text = await body.text()
    // Another 404 is not about the project: the address is wrong, or the service too old.
    if (statusCode === 404 && text.includes('"NOT_FOUND"')) return null
    const message = `the API service answered ${statusCode} about a project`
    throw statusCode === 401 || statusCode === 403 ? new CredentialRefused(message) : new Error(message)
  }
}
