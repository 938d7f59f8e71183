import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'

export interface SavedView {
  id: string
  name: string
  /** Filters as in the address of the list of requests. */
  query: string
  created_at: string
}

/** Of one person: a menu holds no more. */
export const maxSavedViews = 50

interface ViewRow {
  id: string
  name: string
  query: string
  created_at: Date
}

const viewOf = (row: ViewRow): SavedView => ({
  ...row,
  id: idFromUuid('savedView', row.id),
  created_at: row.created_at.toISOString(),
})

/** A person's views by name. */
export async function listViews(pool: Pool, personId: string): Promise<SavedView[]> {
  const { rows } = await query<ViewRow>(
    pool,
    'select id, name, query, created_at from saved_views where person_id = $1 order by lower(name), id',
    [idToUuid(personId)],
  )
  return rows.map(viewOf)
}

/** Saves a view in place of one with the same name. Undefined: the person has as many as there may be. */
export async function saveView(
  pool: Pool,
  personId: string,
  view: Pick<SavedView, 'id' | 'name' | 'query'>,
  nowMs: number,
): Promise<SavedView | undefined> {
  const { rows } = await query<ViewRow>(
    pool,
    `insert into saved_views as w (id, person_id, name, query, created_at)
     select $1, $2, $3, $4, $5 where (select count(*) from saved_views v where v.person_id = $2 and v.name <> $3) < $6
     on conflict (person_id, name) do update set query = excluded.query
     returning w.id, w.name, w.query, w.created_at`,
    [idToUuid(view.id), idToUuid(personId), view.name, view.query, new Date(nowMs), maxSavedViews],
  )
  return rows.map(viewOf)[0]
}

/** Whether the person had it. */
export async function deleteView(pool: Pool, personId: string, id: string): Promise<boolean> {
  const { rowCount } = await query(pool, 'delete from saved_views where person_id = $1 and id = $2', [
    idToUuid(personId),
    idToUuid(id),
  ])
  return rowCount === 1
}
