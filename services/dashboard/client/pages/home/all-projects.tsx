import { Paper, Text, Title } from '@mantine/core'
import { rowsIn, type Item } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'

type Trouble = Item<'GET /api/status/projects'>

const columns: Column<Trouble>[] = [
  {
    title: 'Project',
    cell: ({ project_id: project, name }) => (
      <PageLink to="/" search={{ project }}>
        <PlainText text={name} />
      </PageLink>
    ),
  },
  { title: 'Critical', isNumber: true, cell: ({ critical }) => formatCount(critical) },
  { title: 'High', isNumber: true, cell: ({ high }) => formatCount(high) },
  { title: 'Medium', isNumber: true, cell: ({ medium }) => formatCount(medium) },
  { title: 'New since yesterday', isNumber: true, cell: (row) => formatCount(row.last_day) },
  { title: 'Alerts', isNumber: true, cell: (row) => formatCount(row.firing_rules) },
  { title: 'Failing receivers', isNumber: true, cell: (row) => formatCount(row.failing_receivers) },
]

/** For people with several projects: those in which something is wrong, the worst first. */
export function AllProjects() {
  const count = useMe().data?.project_count ?? 0
  const { data } = useApi(
    'GET /api/status/projects',
    { query: { page_size: '10' } },
    { pollMs: 60_000, enabled: count > 1 },
  )
  if (count < 2 || data === undefined) return null
  const rows = rowsIn<'GET /api/status/projects'>(data)
  const total = 'total' in data ? data.total : rows.length
  return (
    <Paper withBorder p="sm" mt="lg" component="section" aria-label="All projects">
      <Title order={2} mb="xs">
        All projects
      </Title>
      {rows.length === 0 ? (
        <Text size="sm">Nothing is wrong in your {formatCount(count)} projects.</Text>
      ) : (
        <>
          <RowsTable
            label="All projects"
            columns={columns}
            rows={rows}
            keyOf={(row) => row.project_id}
            minWidth={620}
          />
          <Text size="xs" c="dimmed">
            {formatCount(total)} of {formatCount(count)} {nounOf(count, 'project')} with something wrong
            {total > rows.length ? `, the worst ${formatCount(rows.length)} shown` : ''}.
          </Text>
        </>
      )}
    </Paper>
  )
}
