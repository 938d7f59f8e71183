import type { ClientBase } from 'pg'

/** Those of new keys for which their projects have no room: `project/finding`. */
export async function findWithoutRoom(
  client: ClientBase,
  wanted: readonly { projectUuid: string; id: string }[],
  maxPerProject: number,
): Promise<Set<string>> {
  const ids = new Map(wanted.map((each) => [`${each.projectUuid}/${each.id}`, each]))
  if (ids.size === 0) return new Set()
  const { rows } = await client.query<{ project_id: string; id: string; place: number; counted: number }>(
    `with missing as (
       select w.project_id, w.id, row_number() over (partition by w.project_id order by w.id)::integer as place
       from unnest($1::uuid[], $2::uuid[]) as w (project_id, id)
       where not exists (select from findings f where f.project_id = w.project_id and f.id = w.id)
     ), full_projects as (
       select p.project_id, (select count(*) from (select from findings f where f.project_id = p.project_id limit $3) f)::integer as counted
       from (select distinct project_id from missing) p
     )
     select project_id, id, place, counted from missing join full_projects using (project_id) where counted + place > $3`,
    [
      [...ids.values()].map(({ projectUuid }) => projectUuid),
      [...ids.values()].map(({ id }) => id),
      maxPerProject,
    ],
  )
  return new Set(rows.map(({ project_id, id }) => `${project_id}/${id}`))
}
