import type { ClientBase } from 'pg'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { ToolDefinition } from '#schemas/tool-definition.ts'
import { makeDefinitionEvent } from '../steps/make-definition-event.ts'
import type { PlacedCall } from '../steps/place-call.ts'

/** Of a project: a server that gives its tools new names each time would grow the table without bound. */
const maxDefinitions = 10_000

interface NotedRow {
  ordinal: number
  /** Null: the first definition of this tool. */
  previous_hash: string | null
}

/**
 * Keeps the last definition of each MCP server's tools. Returns an event for each that is another than the
 * one before it. Records come in any order: one older than what is kept changes nothing.
 */
export async function noteDefinitions(
  client: ClientBase,
  newCalls: readonly PlacedCall[],
): Promise<RaisedEvent[]> {
  const events: RaisedEvent[] = []
  for (const round of roundsOf(newCalls)) {
    const { rows } = await client.query<NotedRow>(noteSql, [
      round.map(({ placed }) => placed.projectUuid),
      round.map(({ definition }) => definition.server),
      round.map(({ definition }) => definition.tool),
      round.map(({ definition }) => definition.hash),
      round.map(({ placed }) => new Date(placed.createdAtMs)),
      maxDefinitions,
    ])
    for (const { ordinal, previous_hash: previous } of rows) {
      const seen = round[ordinal - 1]
      if (seen !== undefined && previous !== null && previous !== seen.definition.hash)
        events.push(makeDefinitionEvent(seen.placed.call, seen.definition, previous))
    }
  }
  return events
}

interface SeenDefinition {
  placed: PlacedCall
  definition: ToolDefinition
}

/** A tool that comes twice changes twice: each round has every tool once, in the order of their calls. */
function roundsOf(calls: readonly PlacedCall[]): SeenDefinition[][] {
  const rounds: SeenDefinition[][] = []
  const counts = new Map<string, number>()
  const inOrder = calls
    .filter(({ call }) => call.tool_definitions.length > 0)
    .toSorted((one, other) => one.createdAtMs - other.createdAtMs)
  for (const placed of inOrder)
    for (const definition of placed.call.tool_definitions) {
      const key = JSON.stringify([placed.projectUuid, definition.server, definition.tool])
      const at = counts.get(key) ?? 0
      counts.set(key, at + 1)
      const round = (rounds[at] ??= [])
      round.push({ placed, definition })
    }
  return rounds
}

// Rows are locked in key order, as all sinks lock them. A project's are counted only when a new one comes.
const noteSql = `
  with given as (
    select c.*, c.ordinal::integer as place
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality
      as c (project_id, server, tool_name, hash, seen_at, ordinal)
  ), before as (
    select d.project_id, d.server, d.tool_name, d.hash, d.seen_at
    from tool_definitions d join given using (project_id, server, tool_name) order by 1, 2, 3 for update of d
  ), moved as (
    update tool_definitions d set hash = given.hash, seen_at = given.seen_at
    from given join before using (project_id, server, tool_name)
    where d.project_id = given.project_id and d.server = given.server and d.tool_name = given.tool_name
      and before.seen_at < given.seen_at
    returning given.place, before.hash as previous_hash
  ), added as (
    insert into tool_definitions (project_id, server, tool_name, hash, seen_at)
    select g.project_id, g.server, g.tool_name, g.hash, g.seen_at from given g
    where exists (select from projects p where p.id = g.project_id)
      and not exists (select from before b where b.project_id = g.project_id and b.server = g.server and b.tool_name = g.tool_name)
      and (select count(*) from (select from tool_definitions d where d.project_id = g.project_id limit $6) counted) < $6
    order by 1, 2, 3 on conflict do nothing
  )
  select place as ordinal, previous_hash from moved`
