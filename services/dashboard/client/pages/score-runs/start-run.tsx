import { Alert, Button, Group, Modal, Stack, Switch, TagsInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { formatCount, formatUsd, nounOf } from '../../formats/format-number.ts'
import { isoText, localText } from '../../formats/local-time.ts'
import { MomentPicker } from '../../parts/moment-picker.tsx'
import { Failure } from '../../parts/page-states.tsx'

interface Values {
  start: string | null
  end: string | null
  scorers: string[]
  ofThisProject: boolean
}

const weekMs = 7 * 24 * 3_600_000

function lastWeek(): Pick<Values, 'start' | 'end'> {
  const now = Date.now()
  // Pickers know whole seconds: with the next one what was called in this one is in it.
  return { start: localText(now - weekMs), end: localText(now + 1_000) }
}

/** Says first what a run would take, then starts it. */
export function StartRun({ onClose }: { onClose: () => void }) {
  const project = useProject()
  const navigate = useNavigate()
  const form = useForm<Values>({
    initialValues: { ...lastWeek(), scorers: [], ofThisProject: true },
    validate: {
      start: (start) => (start === null ? 'From when on' : null),
      end: (end, { start }) =>
        end === null ? 'Until when' : start !== null && end <= start ? 'After the start' : null,
    },
  })
  const estimate = useApiChange('POST /api/score-runs', [])
  const begin = useApiChange('POST /api/score-runs', ['GET /api/score-runs'])
  const bodyOf = ({ start, end, scorers, ofThisProject }: Values) => ({
    start: isoText(start) ?? '',
    end: isoText(end) ?? '',
    ...(scorers.length === 0 ? {} : { scorers }),
    ...(ofThisProject ? { project_id: project.id } : {}),
  })
  const dryRun = form.onSubmit((values) => estimate.mutate({ body: { ...bodyOf(values), dry_run: true } }))
  const watch = ({ run }: Answer<'POST /api/score-runs'>) => {
    onClose()
    if (run !== null) void navigate({ to: `/score-runs/${run.id}` })
  }
  const error = estimate.error ?? begin.error
  // What was counted is not what is started once a field has changed.
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
              What would it take?
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
    <Alert color="blue" title="It would take">
      <Text size="sm">
        {isExact ? '' : 'about '}
        {formatCount(calls)} {nounOf(calls, 'call')}
        {without === null || without === 0
          ? ''
          : `, ${formatCount(without)} of them without bodies: those stay unscored`}
        . Judges: {cost === null ? 'not known' : formatUsd(cost)}.
      </Text>
    </Alert>
  )
}
