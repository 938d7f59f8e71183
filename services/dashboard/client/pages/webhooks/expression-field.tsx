import { Badge, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { callApi, type Answer, type ApiError } from '../../api/call-api.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { RowsTable, type Column } from '../../parts/rows-table.tsx'
import { TimeText } from '../../parts/time-text.tsx'
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'

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
        description='CEL, evaluated for every event of the webhook; fields of other events are null. Critical threats, and all other chosen events: event != "threat_detected" || data.severity == "critical"'
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
        Valid. There were no events in the last week to evaluate it on.
      </Text>
    )
  const columns: Column<Tried>[] = [
    { title: 'Time', cell: (event) => <TimeText at={event.created_at} isAgo /> },
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
  return <RowsTable label="Results on recent events" columns={columns} rows={tried} keyOf={({ id }) => id} />
}

type Trial = Answer<'POST /api/v1/webhooks/try'>

/** Evaluates an expression on the project's newest events. Changes nothing, so it is cached like a read. */
function useTrial(projectId: string, expression: string): UseQueryResult<Trial, ApiError> {
  return useQuery<Trial, ApiError>({
    queryKey: ['POST /api/v1/webhooks/try', projectId, expression],
    queryFn: ({ signal }) =>
      callApi(
        'POST /api/v1/webhooks/try',
        { query: { project_id: projectId }, body: { filter_expression: expression } },
        signal,
      ),
    enabled: expression !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  })
}
