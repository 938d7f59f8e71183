import { Group, Paper, ScrollArea, Table, Title, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { formatPoint } from '../../formats/format-time.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { SeriesChart, type SeriesChartProps } from '../../parts/series-chart.tsx'

export interface TimeChartProps extends Pick<SeriesChartProps, 'title' | 'stepHours' | 'format'> {
  series: readonly { name: string; label: string; color: string }[]
  /** `range`: of the requests that a row counts. */
  rows: readonly { at: string; range: { start: string; end: string }; values: readonly (number | null)[] }[]
  isStacked?: boolean
  hasFractions?: boolean
  /** Filters of the requests behind a point, besides its range. */
  toRequests: Record<string, string>
}

/** Values over time. A click on a point leads to its requests; the table does so by keyboard. */
export function TimeChart(props: TimeChartProps) {
  const { title, rows, series, stepHours, format, toRequests } = props
  const [isTable, { toggle }] = useDisclosure()
  const navigate = useNavigate()
  const toPoint = (index: number) => {
    const row = rows[index]
    if (row === undefined) return
    void navigate({ to: '/requests', search: { ...toRequests, ...row.range } })
  }
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        <UnstyledButton fz="xs" c="dimmed" onClick={toggle} aria-expanded={isTable}>
          {isTable ? 'Hide table' : 'Show table'}
        </UnstyledButton>
      </Group>
      <SeriesChart
        {...{ title, rows, stepHours, format }}
        series={series.map(({ label, color }) => ({ label, color }))}
        isStacked={props.isStacked ?? false}
        hasFractions={props.hasFractions ?? false}
        height={200}
        onPoint={toPoint}
      />
      {isTable ? <PointTable {...props} /> : null}
    </Paper>
  )
}

function PointTable({ title, series, rows, stepHours, format, toRequests }: TimeChartProps) {
  return (
    <ScrollArea.Autosize mah={260} mt="sm" tabIndex={0}>
      <Table aria-label={title} stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>From</Table.Th>
            {series.map(({ name, label }) => (
              <Table.Th key={name} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ at, range, values }) => (
            <Table.Tr key={at}>
              <Table.Td>
                <PageLink to="/requests" search={{ ...toRequests, ...range }}>
                  {formatPoint(at, stepHours)}
                </PageLink>
              </Table.Td>
              {series.map(({ name }, index) => (
                <Table.Td key={name} ta="right">
                  {format(values[index] ?? null)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}
