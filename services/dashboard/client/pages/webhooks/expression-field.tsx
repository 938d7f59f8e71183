import { Badge, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useTrial } from './use-trial.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'

type Tried = Answer<'POST /api/v1/webhooks/try'>['tried'][number]

interface ExpressionFieldProps {
  projectId: string
  value?: string
  error?: ReactNode
  onChange?: (value: string) => void
}

const outcomes = {
  passes: { label: 'Would be sent', color: 'green' },
  held_back: { label: 'Held back', color: 'gray' },
  failed: { label: 'Fails: not sent', color: 'red' },
} as const

/** A filter expression, validated while typing and evaluated on recent events. */
export function ExpressionField({ projectId, value = '', error, onChange }: ExpressionFieldProps) {
  const [settled] = useDebouncedValue(value.trim(), 400)
  const trial = useTrial(projectId, settled)
  const fault = settled === '' ? undefined : (trial.data?.error ?? trial.error?.message)
  return (
    <Stack gap="xs">
      <Textarea
        label="Expression"
        description='CEL that decides for every event of the webhook; fields of other events are null. Critical threats, and whatever else is chosen: event != "threat_detected" || data.severity == "critical"'
        autosize
        minRows={2}
        maxRows={8}
        ff="monospace"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange?.(event.currentTarget.value)}
        error={error ?? fault}
      />
      {settled === '' || trial.data === undefined || trial.data.error !== null ? null : (
        <TriedEvents tried={trial.data.tried} />
      )}
    </Stack>
  )
}

function TriedEvents({ tried }: { tried: readonly Tried[] }) {
  if (tried.length === 0)
    return (
      <Text size="xs" c="dimmed">
        It is valid. There was no event in the last week that it could be tried on.
      </Text>
    )
  const columns: Column<Tried>[] = [
    { title: 'When', cell: (event) => <TimeText at={event.created_at} isAgo /> },
    { title: 'Event', cell: (event) => event.event },
    { title: 'Scorer', cell: (event) => <PlainText text={event.scorer_name ?? ''} /> },
    { title: 'Severity', cell: (event) => event.severity },
    {
      title: 'Outcome',
      cell: ({ outcome, message }) => (
        <Badge color={outcomes[outcome].color} variant="light" title={message ?? undefined}>
          {outcomes[outcome].label}
        </Badge>
      ),
    },
  ]
  return <RowsTable label="Tried on recent events" columns={columns} rows={tried} keyOf={({ id }) => id} />
}
