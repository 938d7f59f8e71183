import pg from 'pg'
import { idToUuid } from '#schemas/ids.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import type { Receivers } from './receivers.ts'
import type { ServiceStarter } from './start-services.ts'

export interface ChaosProject {
  name: 'open' | 'limited' | 'private'
  id: string
  apiKey: string
}

/** One without a limit, through the gateways and beside them; one whose limit is reached in the run; one that keeps no content. */
export interface ChaosProjects {
  open: ChaosProject
  limited: ChaosProject
  private: ChaosProject
}

/** `room`: how many calls the limited one may still make. */
export async function makeProjects(
  { apiUrl, operatorSecret }: ServiceStarter,
  receivers: Receivers,
  databaseUrl: string,
  room: number,
): Promise<ChaosProjects> {
  const post = async <T>(path: string, token: string, body: unknown): Promise<T> => {
    const response = await fetch(apiUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const make = async (name: ChaosProject['name'], settings: object): Promise<ChaosProject> => {
    const { id } = await post<{ id: string }>('/api/projects', operatorSecret, { name, ...settings })
    const { key } = await post<{ key: string }>(`/api/projects/${id}/keys`, operatorSecret, { name })
    return { name, id, apiKey: key }
  }
  const projects = {
    open: await make('open', { tier: 'enterprise' }),
    limited: await make('limited', { tier: 'free' }),
    private: await make('private', { tier: 'enterprise', zero_content_retention: true }),
  }
  const events = ['threat_detected', 'usage_alert']
  for (const { apiKey } of Object.values(projects))
    for (const receiver of ['steady', 'failing'] as const)
      await post('/api/v1/webhooks', apiKey, { url: receivers.urlOf(receiver), events })
  await useUp(databaseUrl, projects.limited.id, room)
  return projects
}

/** As if it had made calls before: 10,000 of them would take hours at the rate of a run. */
async function useUp(databaseUrl: string, projectId: string, room: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const used = Number(requestLimitOf.free) - room
    const { rowCount } = await client.query(
      'update subscriptions set requests_this_period = $2 where project_id = $1',
      [idToUuid(projectId), used],
    )
    if (rowCount !== 1) throw new Error(`${projectId} has no subscription`)
  } finally {
    await client.end()
  }
}
