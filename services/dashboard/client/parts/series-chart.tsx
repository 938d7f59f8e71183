import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { formatPoint } from '../formats/format-time.ts'
import { hasLonePoint } from './has-lone-point.ts'

export interface SeriesChartProps {
  title: string
  series: readonly { label: string; color: string }[]
  /** `values`: of each series. */
  rows: readonly { at: string; values: readonly (number | null)[] }[]
  stepHours: number
  format: (value: number | null) => string
  /** Stacked areas for values that add up, else lines. Bars took several times the script time. */
  isStacked: boolean
  height: number
  /** False: the axis has whole numbers only. */
  hasFractions: boolean
  /** A click on the row of this index. */
  onPoint?: (index: number) => void
}

/** Values over time. What it shows also stands in a table. */
export function SeriesChart({ title, series, rows, isStacked, onPoint, ...rest }: SeriesChartProps) {
  // By place: a name may have dots, which are paths here.
  const nameOf = (place: number) => `series${place}`
  const clickable =
    onPoint === undefined
      ? {}
      : {
          onClick: ({ activeTooltipIndex }: { activeTooltipIndex?: unknown }) =>
            onPoint(Number(activeTooltipIndex)),
          style: { cursor: 'pointer' },
        }
  return (
    <AreaChart
      h={rest.height}
      dataKey="label"
      data={rows.map(({ at, values }) => ({
        label: formatPoint(at, rest.stepHours),
        ...Object.fromEntries(series.map((_series, place) => [nameOf(place), values[place]])),
      }))}
      series={series.map((each, place) => ({ ...each, name: nameOf(place) }))}
      type={isStacked ? 'stacked' : 'default'}
      curveType={isStacked ? 'step' : 'linear'}
      fillOpacity={isStacked ? 0.6 : 0.1}
      withDots={!isStacked && hasLonePoint(rows.map(({ values }) => values))}
      connectNulls={false}
      valueFormatter={rest.format}
      // Wide enough for a duration on one line.
      yAxisProps={{ width: 76, allowDecimals: rest.hasFractions }}
      xAxisProps={{ minTickGap: 40 }}
      areaChartProps={clickable}
      withLegend={series.length > 1}
      role="group"
      aria-label={title}
    />
  )
}
