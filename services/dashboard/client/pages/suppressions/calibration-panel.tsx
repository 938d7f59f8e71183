import { Text } from '@mantine/core'
import type { Answer } from '../../api/call-api.ts'
import { useApi } from '../../api/use-api.ts'
import { absent, formatCount, formatShare } from '../../formats/format-number.ts'
import { Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'

type Calibration = Answer<'GET /api/scorers/calibration'>['scorers'][number]

/** What reviews say of each scorer. */
export function CalibrationPanel({ projectId }: { projectId: string }) {
  const calibration = useApi('GET /api/scorers/calibration', { query: { project_id: projectId } })
  const none = <Text size="sm">Nothing is reviewed yet.</Text>
  return (
    <Loaded query={calibration} empty={{ when: ({ scorers }) => scorers.length === 0, show: none }}>
      {({ scorers }) => (
        <>
          <RowsTable
            label="Calibration"
            columns={columns}
            rows={scorers}
            keyOf={({ scorer_name: name }) => name}
          />
          <Text size="xs" c="dimmed">
            Shares with 95 % intervals. Recall counts only what was reviewed. A threshold is suggested from 20
            reviewed scores on; nothing applies it by itself.
          </Text>
        </>
      )}
    </Loaded>
  )
}

const columns: Column<Calibration>[] = [
  { title: 'Scorer', cell: ({ scorer_name: name }) => <PlainText text={name} /> },
  { title: 'Reviewed', isNumber: true, cell: ({ reviewed }) => formatCount(reviewed) },
  { title: 'False alarms', isNumber: true, cell: (scorer) => formatCount(scorer.false_alarms) },
  { title: 'Missed', isNumber: true, cell: ({ missed }) => formatCount(missed) },
  { title: 'Precision', isNumber: true, cell: ({ precision }) => formatInterval(precision) },
  { title: 'Recall', isNumber: true, cell: ({ recall }) => formatInterval(recall) },
  {
    title: 'Suggested threshold',
    isNumber: true,
    cell: ({ suggested_threshold: suggested }) => suggested?.fail_at ?? absent,
  },
]

function formatInterval(share: Calibration['precision']): string {
  if (share === null) return absent
  return `${formatShare(share.rate, 1)} (${formatShare(share.low, 1)} to ${formatShare(share.high, 1)})`
}
