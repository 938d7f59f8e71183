import { splitVisible } from '../formats/visible-text.ts'
import { SeriesChart, type SeriesChartProps } from './series-chart.tsx'

export interface GroupChartProps extends Pick<
  SeriesChartProps,
  'title' | 'rows' | 'stepHours' | 'format' | 'isStacked'
> {
  /** The largest group first. */
  groups: readonly string[]
}

// Told apart in both schemes and by people who confuse red with green; the last is for the rest.
const colors = [
  ...['blue.7', 'orange.6', 'teal.6', 'grape.6', 'yellow.6', 'cyan.6', 'pink.6', 'lime.7'],
  'gray.5',
]

/** Groups over time. What it shows stands in a table beside it. */
export function GroupChart({ groups, ...chart }: GroupChartProps) {
  return (
    <SeriesChart
      {...chart}
      series={groups.map((label, place) => ({
        label: shortened(label),
        color: colors[place % colors.length] ?? 'gray.5',
      }))}
      height={260}
      hasFractions
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
