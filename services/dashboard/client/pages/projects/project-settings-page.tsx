import {
  Alert,
  Button,
  Fieldset,
  Group,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useEffectEvent } from 'react'
import { maxMetadataKeys } from '#schemas/call-labels.ts'
import { contentDays } from '#schemas/content-retention.ts'
import type { Answer } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useProject } from '../../app/project.ts'
import { confirmAction, notifyResult } from '../../parts/confirm-action.tsx'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { usePersisted } from '../../parts/use-draft.ts'
import { readSettings, settingsBody, type Settings, type SettingsForm } from './project-settings.ts'
import { SamplingFields } from './sampling-fields.tsx'

type Project = Answer<'GET /api/projects/{id}'>

const judgeModes = [
  { value: 'always', label: 'Always: every call that a detector does not settle' },
  { value: 'uncertain', label: 'When the detectors are not sure' },
  { value: 'never', label: 'Never: detectors alone' },
]

/** A project's retention, judging and budget alerts. */
export function ProjectSettingsPage() {
  const { id } = useProject()
  const project = useApi('GET /api/projects/{id}', { params: { id } })
  return (
    <>
      <PageHead title="Project settings" />
      <Loaded query={project}>{(shown) => <SettingsEditor key={shown.id} project={shown} />}</Loaded>
    </>
  )
}

function SettingsEditor({ project }: { project: Project }) {
  const [typed, keep] = usePersisted<Settings>(`settings.${project.id}`)
  const form = useForm<Settings>({ initialValues: typed ?? readSettings(project), onValuesChange: keep })
  // Restored input counts as a change from the saved settings.
  const resetDirty = useEffectEvent(() => form.resetDirty(readSettings(project)))
  useEffect(() => resetDirty(), [])
  const change = useApiChange('PATCH /api/projects/{id}', ['GET /api/projects/{id}', 'GET /api/projects'])
  const save = async (settings: Settings) => {
    const saved = await change.mutateAsync({ params: { id: project.id }, body: settingsBody(settings) })
    // The saved settings are the new baseline.
    form.setValues(readSettings(saved))
    form.resetDirty(readSettings(saved))
    keep(undefined)
  }
  const submit = form.onSubmit((settings) => {
    if (settings.zeroRetention && !project.zero_content_retention) {
      confirmAction({
        title: 'Enable zero content retention?',
        consequence: `Prompts and answers of ${project.name} are scored and then forgotten: nobody can read them later, and history cannot be scored again.`,
        confirm: 'Enable',
        action: () => save(settings),
        done: 'The settings are saved.',
      })
    } else void notifyResult(save(settings), 'The settings are saved.')
  })
  return (
    <form onSubmit={submit}>
      <Stack maw={640}>
        <TextInput label="Name" {...form.getInputProps('name')} />
        <RetentionFields form={form} />
        <JudgeFields form={form} />
        <SamplingFields form={form} />
        <AlertFields form={form} />
        <TagsInput
          label="Metadata keys to count by"
          description={`At most ${maxMetadataKeys}. Alert rules filter by their values. No key whose values name people: counts outlive the calls`}
          maxTags={maxMetadataKeys}
          {...form.getInputProps('metadataKeys')}
        />
        {change.error === null ? null : <Failure error={change.error} />}
        <Group>
          <Button type="submit" disabled={!form.isDirty()} loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function RetentionFields({ form }: { form: SettingsForm }) {
  return (
    <Fieldset legend="Retention">
      <Stack>
        <NumberInput
          label="Days to keep prompts and answers"
          description={`At most ${contentDays}, also when empty. Who called what, with which verdicts, stays longer`}
          min={1}
          max={contentDays}
          allowDecimal={false}
          {...form.getInputProps('retentionDays')}
        />
        <Switch
          label="Zero content retention"
          description="Prompts and answers are scored and never stored"
          {...form.getInputProps('zeroRetention', { type: 'checkbox' })}
        />
        <Switch
          label="Mask personal data and secrets"
          description="What detectors find is replaced by placeholders before a call is stored. Nobody can read it later. What they do not find stays"
          {...form.getInputProps('mask', { type: 'checkbox' })}
        />
        {form.getValues().zeroRetention ? (
          <Alert color="yellow" title="Without content">
            Requests show who called what, when and with which verdicts, but not what was said.
          </Alert>
        ) : null}
      </Stack>
    </Fieldset>
  )
}

function JudgeFields({ form }: { form: SettingsForm }) {
  return (
    <Fieldset legend="Judging by a model">
      <Stack>
        <Select
          label="Use of the judge"
          data={judgeModes}
          allowDeselect={false}
          {...form.getInputProps('judgeMode')}
        />
        <NumberInput
          label="Budget per period, USD"
          description="Beyond it, scores that need the judge are unscored. Empty: no limit"
          min={0}
          decimalScale={2}
          {...form.getInputProps('judgeUsd')}
        />
      </Stack>
    </Fieldset>
  )
}

function AlertFields({ form }: { form: SettingsForm }) {
  return (
    <Fieldset legend="Alerts">
      <Stack>
        <NumberInput
          label="Alert at cost per period, USD"
          description="Empty: never"
          min={0}
          decimalScale={2}
          {...form.getInputProps('costAlertUsd')}
        />
        <NumberInput
          label="Alert at quota usage, percent"
          description="Empty: only when used up"
          min={1}
          max={100}
          allowDecimal={false}
          {...form.getInputProps('quotaWarningPercent')}
        />
      </Stack>
    </Fieldset>
  )
}
