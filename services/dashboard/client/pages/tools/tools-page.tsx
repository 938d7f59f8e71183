import { Badge, Group, Table } from '@mantine/core'
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
import { TimeText } from '../../parts/time-text.tsx'

type Tool = Item<'GET /api/tools'>
const newMs = 7 * 24 * 3_600_000
const pageSize = 50
const shownAgents = 3

/** The tools that agents call; those first seen in the last week are marked. */
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
            <Nothing title="No tool was called in this time">
              Calls of MCP tools, and answers that ask for tools, show up here.
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
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Tool</Table.Th>
            <Table.Th>First seen</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th ta="right">Calls</Table.Th>
            <Table.Th ta="right">Failed</Table.Th>
            <Table.Th ta="right">Asked for</Table.Th>
            <Table.Th>Agents</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tools.map((tool) => (
            <ToolRow key={tool.tool_name} tool={tool} range={range} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Answers that asked for a tool do not carry its name: only recorded calls can be listed. */
function ToolRow({ tool, range }: { tool: Tool; range: ChosenRange }) {
  const isNew = tool.first_seen_at !== null && Date.now() - Date.parse(tool.first_seen_at) < newMs
  return (
    <Table.Tr>
      <Table.Td>
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
      </Table.Td>
      <Table.Td>
        <TimeText at={tool.first_seen_at} isAgo />
      </Table.Td>
      <Table.Td>
        <TimeText at={tool.last_seen_at} isAgo />
      </Table.Td>
      <Table.Td ta="right">{formatCount(tool.calls)}</Table.Td>
      <Table.Td ta="right">{formatShare(tool.failed, tool.calls)}</Table.Td>
      <Table.Td ta="right">{formatCount(tool.requested)}</Table.Td>
      <Table.Td>
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
      </Table.Td>
    </Table.Tr>
  )
}
