import { Badge, Group } from '@mantine/core'
import { rowsIn, type Item } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { useTexts } from '../../app/address.ts'
import { useProject } from '../../app/project.ts'
import { useRange } from '../../app/use-range.ts'
import { formatCount, formatShare } from '../../formats/format-number.ts'
import { rangeTexts, type ChosenRange } from '../../formats/time-range.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { PageNumbers } from '../../parts/page-numbers.tsx'
import { Loaded, Nothing } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Tool = Item<'GET /api/tools'>
const newMs = 7 * 24 * 3_600_000
const pageSize = 50
const shownAgents = 3

/** Tools called by agents; those first seen in the last week are marked. */
export function ToolsPage() {
  const project = useProject()
  const range = useRange('30d')
  const { page = '1' } = useTexts()
  const { start, end } = range
  const tools = useApi(
    'GET /api/tools',
    { query: { project_id: project.id, start, end, page, page_size: String(pageSize) } },
    { pollMs: 30_000, keepsPrevious: true },
  )
  return (
    <>
      <PageHead title="Tools">
        <RangePicker range={range} />
      </PageHead>
      <Loaded
        query={tools}
        empty={{
          when: (answer) => answer.total === 0,
          show: (
            <Nothing title="No tool calls in this range">
              Calls of MCP tools, and answers that request tools, appear here.
            </Nothing>
          ),
        }}
      >
        {(answer) => (
          <>
            <ToolTable tools={rowsIn<'GET /api/tools'>(answer)} range={range} />
            <PageNumbers total={answer.total} pageSize={pageSize} />
          </>
        )}
      </Loaded>
    </>
  )
}

function ToolTable({ tools, range }: { tools: readonly Tool[]; range: ChosenRange }) {
  const columns: Column<Tool>[] = [
    { title: 'Tool', cell: (tool) => <ToolName tool={tool} range={range} /> },
    { title: 'First seen', cell: (tool) => <TimeText at={tool.first_seen_at} isAgo /> },
    { title: 'Last seen', cell: (tool) => <TimeText at={tool.last_seen_at} isAgo /> },
    { title: 'Calls', isNumber: true, cell: (tool) => formatCount(tool.calls) },
    { title: 'Failed', isNumber: true, cell: (tool) => formatShare(tool.failed, tool.calls) },
    { title: 'Requested', isNumber: true, cell: (tool) => formatCount(tool.requested) },
    { title: 'Agents', cell: (tool) => <ToolAgents tool={tool} range={range} /> },
  ]
  return (
    <RowsTable label="Tools" columns={columns} rows={tools} keyOf={(tool) => tool.tool_name} minWidth={720} />
  )
}

interface ToolCellProps {
  tool: Tool
  range: ChosenRange
}

/** Answers that request a tool are not indexed by its name: only recorded calls can be listed. */
function ToolName({ tool, range }: ToolCellProps) {
  const isNew = tool.first_seen_at !== null && Date.now() - Date.parse(tool.first_seen_at) < newMs
  return (
    <Group gap="xs" wrap="nowrap">
      {tool.calls === 0 ? (
        <PlainText text={tool.tool_name} />
      ) : (
        <PageLink to="/requests" search={{ tool_name: tool.tool_name, ...rangeTexts(range) }}>
          <PlainText text={tool.tool_name} />
        </PageLink>
      )}
      {isNew ? <Badge color="orange.6">New</Badge> : null}
    </Group>
  )
}

function ToolAgents({ tool, range }: ToolCellProps) {
  return (
    <Group gap="xs">
      {tool.agents.slice(0, shownAgents).map((agent) => (
        <PageLink
          key={agent}
          to="/requests"
          search={{
            agent_name: agent,
            ...(tool.calls === 0 ? {} : { tool_name: tool.tool_name }),
            ...rangeTexts(range),
          }}
          size="sm"
        >
          <PlainText text={agent} />
        </PageLink>
      ))}
      {tool.agent_count > shownAgents ? `and ${formatCount(tool.agent_count - shownAgents)} more` : null}
    </Group>
  )
}
