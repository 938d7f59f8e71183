import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { readJson, writeJson } from './state-directory.ts'

const firstProject = z.object({ project_id: z.string(), api_key: z.string() })
export type FirstProject = z.output<typeof firstProject>

const created = z.object({ id: z.string() })
const createdKey = z.object({ key: z.string() })

/**
 * The first project and its key, created through the API's operator routes and stored in `file`. Created
 * again if the key is no longer valid, because it was deleted or the database is another one.
 */
export async function ensureFirstProject(
  baseUrl: string,
  internalSecret: string,
  file: string,
  keyName = 'scripts/up',
): Promise<FirstProject> {
  const kept = firstProject.safeParse(await readJson(file))
  if (kept.success && (await isValid(baseUrl, kept.data.api_key))) return kept.data
  const post = (path: string, body: object) => call(`${baseUrl}${path}`, internalSecret, body)
  const { id } = created.parse(await post('/api/projects', { name: 'First project' }))
  const { key } = createdKey.parse(await post(`/api/projects/${id}/keys`, { name: keyName }))
  const project = { project_id: id, api_key: key }
  await writeJson(file, project)
  return project
}

async function isValid(baseUrl: string, key: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/api/requests?limit=1`, { headers: { 'X-Service-Key': key } })
  await answer.arrayBuffer()
  if (answer.ok) return true
  if (answer.status === 401 || answer.status === 403) return false
  throw new CannotStart(
    `The API answers ${answer.status} to GET /api/requests: see logs/api.log in the state directory.`,
  )
}

async function call(url: string, internalSecret: string, body: object): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${internalSecret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new CannotStart(`The API answers ${answer.status} to POST ${url}: ${text}`)
  return JSON.parse(text)
}
