import { Paper, Skeleton, Text, Title } from '@mantine/core'
import { formatCount } from '../../formats/format-number.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { VerdictBadge } from '../../parts/verdict-badge.tsx'
import type { Status } from './read-signs.ts'

type Row = Status['findings'][number]

const columns: Column<Row>[] = [
  { title: 'Severity', cell: ({ severity }) => <VerdictBadge label="unsafe" severity={severity} /> },
  {
    title: 'Open',
    isNumber: true,
    cell: ({ severity, open }) =>
      open === 0 ? (
        '0'
      ) : (
        <PageLink to="/findings" search={{ severity }} aria-label={`${open} ${severity}`}>
          {formatCount(open)}
        </PageLink>
      ),
  },
  { title: 'Last day', isNumber: true, cell: (row) => formatCount(row.last_day) },
  { title: 'Last week', isNumber: true, cell: (row) => formatCount(row.last_week) },
  {
    title: 'Older',
    isNumber: true,
    cell: ({ open, last_day: day, last_week: week }) => formatCount(open - day - week),
  },
]

/** How many findings are open now, whatever the range: by severity and age. */
export function OpenFindings({ findings }: { findings: readonly Row[] | undefined }) {
  return (
    <Paper withBorder p="sm" h="100%" component="section" aria-label="Open findings">
      <Title order={2} mb="xs">
        <PageLink to="/findings">Open findings</PageLink>
      </Title>
      {findings === undefined ? (
        <Skeleton height={130} />
      ) : (
        <>
          <RowsTable
            label="Open findings"
            columns={columns}
            rows={findings}
            keyOf={({ severity }) => severity}
            minWidth={320}
          />
          <Text size="xs" c="dimmed">
            By the time that they were opened. False alarms, muted and resolved ones are not open.
          </Text>
        </>
      )}
    </Paper>
  )
}
