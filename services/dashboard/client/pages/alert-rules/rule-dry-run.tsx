import { Alert, Badge, Text } from '@mantine/core'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { formatValue, type DryRun, type Metric } from './rule-texts.ts'

type Interval = DryRun['intervals'][number]

/** When a rule would have fired in the last 30 days. */
export function RuleDryRun({ run, metric }: { run: DryRun; metric: Metric }) {
  const { fired, hours, hours_without_data: without, intervals } = run
  return (
    <Alert color="blue" title="The last 30 days" role="status">
      <Text size="sm" mb="xs">
        It would have fired {formatCount(fired)} {nounOf(fired, 'time')} in {formatCount(hours)} hours
        {without === 0 ? '' : `, ${formatCount(without)} of them without calls`}.
      </Text>
      {intervals.length === 0 ? null : (
        <RowsTable
          label="Dry run"
          columns={columnsOf(metric)}
          rows={intervals}
          keyOf={({ level, start }) => `${level} ${start}`}
          minWidth={480}
        />
      )}
    </Alert>
  )
}

function columnsOf(metric: Metric): Column<Interval>[] {
  return [
    { title: 'Level', cell: ({ level }) => <LevelBadge level={level} /> },
    { title: 'From', cell: ({ start }) => <TimeText at={start} /> },
    { title: 'To', cell: ({ end }) => (end === null ? 'Now' : <TimeText at={end} />) },
    { title: 'Worst', isNumber: true, cell: (interval) => formatValue(interval.worst_value, metric) },
    {
      title: 'Told',
      cell: ({ notified }) => (notified ? 'Yes' : 'No: told before'),
    },
  ]
}

function LevelBadge({ level }: Pick<Interval, 'level'>) {
  return <Badge color={level === 'alert' ? 'red.9' : 'yellow.6'}>{level}</Badge>
}
