import { Problem } from '../http/problem.ts'
import type { ProjectKey, ProjectSettings } from './principal.ts'

/** The key's own. Throws 403 when the request names another. */
export function projectOfKey({ project }: ProjectKey, requested: string | undefined): ProjectSettings {
  if (requested === undefined || requested === project.projectId) return project
  throw new Problem(403, 'OTHER_PROJECT', 'project_id: the API key belongs to another project')
}
