import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { changedFrom, writeAudit } from '../stores/audit-store.ts'
import { createProject, findProject, updateProject } from '../stores/project-store.ts'
import { definedOf, projectDefaults } from '../routes/project-fields.ts'
import { changedFields } from './changed-fields.ts'
import type { Declaration } from './declaration.ts'
import type { DeclaredProject } from './init-file.ts'

/** The project of a `ref`: made, adopted by its id, or changed. Its id; undefined: a fault was noted. */
export async function declareProject(
  declaration: Declaration,
  project: DeclaredProject,
  path: string,
): Promise<string | undefined> {
  const { client, nowMs, count } = declaration
  const { ref, id: given, keys: _keys, webhooks: _webhooks, ...settings } = project
  // Noted beside what else is wrong: any fault undoes the whole file.
  if (settings.mask === true && !declaration.canMask)
    declaration.fault(`${path}.mask`, 'needs SEARCH_KEY, which is not set')
  const { rows } = await client.query<{ project_id: string }>(
    'select project_id from declared_projects where ref = $1',
    [ref],
  )
  const known = rows[0] === undefined ? undefined : idFromUuid('project', rows[0].project_id)
  if (known !== undefined && given !== undefined && given !== known) {
    declaration.fault(`${path}.id`, `must be ${known}, which this ref stands for`)
    return undefined
  }
  const id = known ?? given
  const before = id === undefined ? undefined : await findProject(client, id)
  if (id !== undefined && before === undefined) {
    declaration.fault(`${path}.id`, 'names a project that does not exist')
    return undefined
  }
  if (before === undefined) {
    const made = { ...projectDefaults(declaration.defaultTier), ...definedOf(settings), name: settings.name }
    const created = await createProject(client, made, nowMs)
    await audit(declaration, 'project.created', created.id, made)
    await remember(declaration, ref, created.id)
    count('created')
    return created.id
  }
  if (known === undefined && !(await remember(declaration, ref, before.id))) {
    declaration.fault(`${path}.id`, 'names a project that another ref stands for')
    return undefined
  }
  const changes = changedFields(before, settings)
  if (Object.keys(changes).length === 0) return before.id
  await updateProject(client, before.id, changes, nowMs)
  await audit(declaration, 'project.changed', before.id, changedFrom(before, changes))
  count('changed')
  return before.id
}

/** False: the project has a ref already. */
async function remember({ client }: Declaration, ref: string, projectId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'insert into declared_projects (ref, project_id) values ($1, $2) on conflict do nothing',
    [ref, idToUuid(projectId)],
  )
  return rowCount === 1
}

function audit({ client, actor, nowMs }: Declaration, action: string, id: string, detail: object) {
  return writeAudit(client, actor, { action, subject: id, projectId: id, detail: { ...detail } }, nowMs)
}
