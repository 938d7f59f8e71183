import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { formatPoint } from '../formats/format-time.ts'
import { splitVisible } from '../formats/visible-text.ts'

export interface GroupChartProps {
  title: string
  /** The largest group first. */
  groups: readonly string[]
  /** `values`: of each group. */
  rows: readonly { at: string; values: readonly (number | null)[] }[]
  stepHours: number
  format: (value: number | null) => string
  /** Stacked areas for values that add up, else lines. */
  isStacked: boolean
}

// Told apart in both schemes and by people who confuse red with green; the last is for the rest.
const colors = [
  ...['blue.7', 'orange.6', 'teal.6', 'grape.6', 'yellow.6', 'cyan.6', 'pink.6', 'lime.7'],
  'gray.5',
]

/** Groups over time. What it shows stands in a table beside it. */
export function GroupChart({ title, groups, rows, stepHours, format, isStacked }: GroupChartProps) {
  return (
    <AreaChart
      h={260}
      dataKey="label"
      data={rows.map(({ at, values }) => ({
        label: formatPoint(at, stepHours),
        // By place: a name may have dots, which are paths here.
        ...Object.fromEntries(values.map((value, place) => [`group${place}`, value])),
      }))}
      series={groups.map((label, place) => ({
        name: `group${place}`,
        label: shortened(label),
        color: colors[place % colors.length] ?? 'gray.5',
      }))}
      type={isStacked ? 'stacked' : 'default'}
      curveType={isStacked ? 'step' : 'linear'}
      fillOpacity={isStacked ? 0.6 : 0.05}
      withDots={!isStacked}
      connectNulls={false}
      valueFormatter={format}
      yAxisProps={{ width: 76 }}
      xAxisProps={{ minTickGap: 40 }}
      withLegend
      role="group"
      aria-label={title}
    />
  )
}

const maxLetters = 32

/** Names are others' text: what is invisible is spelled out. */
function shortened(name: string): string {
  const shown = splitVisible(name)
    .map(({ text }) => text)
    .join('')
  return shown.length > maxLetters ? `${shown.slice(0, maxLetters)}…` : shown
}
