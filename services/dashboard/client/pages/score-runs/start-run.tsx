import { Alert, Button, Group, Modal, Stack, Switch, TagsInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatUsd, nounOf } from '../../formats/format-number.ts'
import { isoTexts, localTextOf, type PickedTexts } from '../../formats/local-time.ts'
import { MomentPicker } from '../../parts/moment-picker.tsx'
import { Failure } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'

interface Values extends PickedTexts {
  scorers: string[]
  ofThisProject: boolean
}

const weekMs = 7 * 24 * 3_600_000

function lastWeek(): { start: string; end: string } {
  const now = Date.now()
  return { start: new Date(now - weekMs).toISOString(), end: new Date(now).toISOString() }
}

/** The form of a run, initially for the last week, and its request. */
function useRunForm(projectId: string) {
  const [filled] = useState(lastWeek)
  const form = useForm<Values>({
    ...usePersistedValues<Values>('score-run', {
      start: localTextOf(filled.start),
      end: localTextOf(filled.end),
      scorers: [],
      ofThisProject: true,
    }),
    validate: {
      start: (start) => (start === null ? 'Choose a start' : null),
      end: (_end, picked) => {
        const { start = '', end } = isoTexts(picked, filled)
        return end === undefined ? 'Choose an end' : end <= start ? 'Must be after the start' : null
      },
    },
  })
  const bodyOf = (values: Values) => {
    const { start = '', end = '' } = isoTexts(values, filled)
    return {
      start,
      end,
      ...(values.scorers.length === 0 ? {} : { scorers: values.scorers }),
      ...(values.ofThisProject ? { project_id: projectId } : {}),
    }
  }
  return { form, bodyOf }
}

/** Estimates a run, then starts it. */
export function StartRun({ onClose }: { onClose: () => void }) {
  const project = useProject()
  const navigate = useNavigate()
  const { form, bodyOf } = useRunForm(project.id)
  const estimate = useApiChange('POST /api/score-runs', [])
  const begin = useApiChange('POST /api/score-runs', ['GET /api/score-runs'])
  const dryRun = form.onSubmit((values) => estimate.mutate({ body: { ...bodyOf(values), dry_run: true } }))
  const watch = ({ run }: Answer<'POST /api/score-runs'>) => {
    onClose()
    if (run !== null) void navigate({ to: `/score-runs/${run.id}` })
  }
  const error = estimate.error ?? begin.error
  // A changed field invalidates the estimate.
  form.watch('start', () => estimate.reset())
  form.watch('end', () => estimate.reset())
  form.watch('scorers', () => estimate.reset())
  form.watch('ofThisProject', () => estimate.reset())
  return (
    <Modal opened onClose={onClose} title="Score history again">
      <form onSubmit={dryRun}>
        <Stack>
          <MomentPicker label="From" {...form.getInputProps('start')} />
          <MomentPicker label="To" {...form.getInputProps('end')} />
          <TagsInput label="Scorers" description="None: all" {...form.getInputProps('scorers')} />
          <Switch label="Only this project" {...form.getInputProps('ofThisProject', { type: 'checkbox' })} />
          {error === null ? null : <Failure error={error} />}
          {estimate.data === undefined ? null : <Estimate answer={estimate.data} />}
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={estimate.isPending}>
              Estimate
            </Button>
            <Button
              disabled={estimate.data === undefined}
              loading={begin.isPending}
              onClick={() => begin.mutate({ body: bodyOf(form.getValues()) }, { onSuccess: watch })}
            >
              Start
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function Estimate({ answer }: { answer: Answer<'POST /api/score-runs'> }) {
  const { calls, calls_are_exact: isExact, calls_without_bodies: without, estimated_judge_usd: cost } = answer
  return (
    <Alert color="blue" title="Estimate">
      <Text size="sm">
        {isExact ? '' : 'about '}
        {formatCount(calls)} {nounOf(calls, 'call')}
        {without === null || without === 0
          ? ''
          : `, ${formatCount(without)} of them without bodies: those stay unscored`}
        . Judges: {cost === null ? 'not known' : formatUsd(cost)}.
      </Text>
      {answer.problem === null ? null : (
        <Text size="sm" fw={600}>
          <PlainText text={answer.problem} />
        </Text>
      )}
    </Alert>
  )
}
