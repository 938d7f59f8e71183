import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { Group, Paper, ScrollArea, Table, Title, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { formatPoint } from '../../formats/format-time.ts'
import { hasLonePoint } from './has-lone-point.ts'
import { PageLink } from '../../parts/page-link.tsx'

export interface TimeChartProps {
  title: string
  series: readonly { name: string; label: string; color: string }[]
  /** `range`: of the requests that a row counts. */
  rows: readonly { at: string; range: { start: string; end: string }; values: readonly (number | null)[] }[]
  stepHours: number
  format: (value: number | null) => string
  /** Stacked areas for values that add up, else lines. Bars took several times the script time. */
  isStacked?: boolean
  /** Otherwise the axis has whole numbers only. */
  hasFractions?: boolean
  /** Filters of the requests behind a point, besides its range. */
  toRequests: Record<string, string>
}

/** Values over time. A click on a point leads to its requests; the table does so by keyboard. */
export function TimeChart(props: TimeChartProps) {
  const {
    title,
    rows,
    series,
    stepHours,
    format,
    toRequests,
    isStacked = false,
    hasFractions = false,
  } = props
  const [isTable, { toggle }] = useDisclosure()
  const navigate = useNavigate()
  const onClick = ({ activeTooltipIndex }: { activeTooltipIndex?: unknown }) => {
    const row = rows[Number(activeTooltipIndex)]
    if (row === undefined) return
    void navigate({ to: '/requests', search: { ...toRequests, ...row.range } })
  }
  const common = {
    h: 200,
    dataKey: 'label',
    data: rows.map(({ at, values }) => ({
      label: formatPoint(at, stepHours),
      ...Object.fromEntries(series.map(({ name }, index) => [name, values[index]])),
    })),
    series: [...series],
    valueFormatter: format,
    // Wide enough for a duration on one line.
    yAxisProps: { width: 76, allowDecimals: hasFractions },
    xAxisProps: { minTickGap: 40 },
    withLegend: series.length > 1,
    role: 'group',
    'aria-label': title,
  }
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        <UnstyledButton fz="xs" c="dimmed" onClick={toggle} aria-expanded={isTable}>
          {isTable ? 'Hide table' : 'Show table'}
        </UnstyledButton>
      </Group>
      <AreaChart
        {...common}
        type={isStacked ? 'stacked' : 'default'}
        areaChartProps={{ onClick, style: { cursor: 'pointer' } }}
        withDots={!isStacked && hasLonePoint(rows.map(({ values }) => values))}
        curveType={isStacked ? 'step' : 'linear'}
        connectNulls={false}
        fillOpacity={isStacked ? 0.6 : 0.1}
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
