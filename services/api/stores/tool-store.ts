import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { RollupFilters } from './rollup-reads.ts'
import { rollupRows } from './rollup-source.ts'

/** Agents listed per tool; their number is given as well. */
const maxAgents = 20

export interface ToolUse {
  tool_name: string
  first_seen_at: string | null
  last_seen_at: string
  calls: number
  failed: number
  requested: number
  agent_count: number
  agents: string[]
}

type ToolRow = Record<'calls' | 'failed' | 'requested', string> & {
  tool_name: string
  first_seen_at: Date | null
  last_seen_at: Date
  agent_count: number
  agents: string[] | null
  total: number
}

type ToolFilters = Omit<RollupFilters, 'model' | 'provider'>

function conditionsOf({ source, withoutSource, agent_name }: ToolFilters): Conditions {
  const conditions = new Conditions()
  conditions.equal('t.source', source)
  conditions.differ('t.source', withoutSource)
  conditions.equal('t.agent_name', agent_name)
  // The overflow group has calls of unnamed tools (docs/decisions/0006).
  conditions.add('not t.is_other')
  return conditions
}

/** Tools of one project, from the sink's hourly counts. */
export function createToolStore(database: ProjectDatabase<OneProject>) {
  return {
    /** The tools used in a time range, the latest used first. */
    async list(
      filters: ToolFilters,
      { limit, offset }: { limit: number; offset: number },
    ): Promise<{ items: ToolUse[]; total: number }> {
      const conditions = conditionsOf(filters)
      const [atMost, skipped] = [conditions.bind(limit), conditions.bind(offset)]
      const rows = await database.query<ToolRow>(
        // Grouped by tool and agent first: distinct agents over the hours would sort all of them.
        `with by_agent as (
           select t.tool_name, t.agent_name, max(t.last_at) as last_at, sum(t.calls) as calls, sum(t.failed) as failed, sum(t.requested) as requested
           from ${await rollupRows(database, 'tool_rollups', filters, conditions)} where :scope(t)${conditions.text} group by 1, 2
         ), used as (
           select tool_name, max(last_at) as last_seen_at, sum(calls) as calls, sum(failed) as failed, sum(requested) as requested,
             count(agent_name)::integer as agent_count, (array_agg(agent_name order by agent_name) filter (where agent_name is not null))[1:${maxAgents}] as agents,
             count(*) over ()::integer as total
           from by_agent group by tool_name order by last_seen_at desc, tool_name limit ${atMost} offset ${skipped}
         )
         select used.*, s.first_seen_at from used left join seen_tools s on :scope(s) and s.tool_name = used.tool_name
         order by used.last_seen_at desc, used.tool_name`,
        conditions.values,
      )
      // After the last page no row has the count.
      if (rows.length === 0 && offset > 0)
        return { ...(await this.list(filters, { limit: 1, offset: 0 })), items: [] }
      return { items: rows.map(toolOf), total: rows[0]?.total ?? 0 }
    },

    /** Calls of each tool, which `tool_name` finds. An answer that only requests a tool has no tool name. */
    async counts(filters: ToolFilters, atMost: number): Promise<{ value: string; count: number }[]> {
      const conditions = conditionsOf(filters)
      const rows = await database.query<{ value: string; count: string }>(
        `select t.tool_name as value, sum(t.calls) as count from ${await rollupRows(database, 'tool_rollups', filters, conditions)}
         where :scope(t)${conditions.text} group by 1 having sum(t.calls) > 0 order by 2 desc, 1 limit ${conditions.bind(atMost)}`,
        conditions.values,
      )
      return rows.map(({ value, count }) => ({ value, count: Number(count) }))
    },
  }
}

function toolOf(row: ToolRow): ToolUse {
  return {
    tool_name: row.tool_name,
    first_seen_at: row.first_seen_at?.toISOString() ?? null,
    last_seen_at: row.last_seen_at.toISOString(),
    calls: Number(row.calls),
    failed: Number(row.failed),
    requested: Number(row.requested),
    agent_count: row.agent_count,
    agents: row.agents ?? [],
  }
}
