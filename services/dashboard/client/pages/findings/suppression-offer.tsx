import { Select, Text, Textarea } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { PlainText } from '../../parts/plain-text.tsx'

export interface SuppressionOffered {
  projectId: string
  offer: NonNullable<Answer<'PATCH /api/findings/{id}'>['suppression']>
}

const dayMs = 86_400_000
const untilRevoked = ''
const spans = [7, 30, 60].map((days) => ({ value: String(days), label: `In ${days} days` }))

/** Offers to mark scores like those of a false alarm from now on. */
export function SuppressionOffer({
  offered: { projectId, offer },
  onClose,
}: {
  offered: SuppressionOffered
  onClose: () => void
}) {
  const create = useApiChange('POST /api/suppressions', ['GET /api/suppressions'])
  const form = useForm({
    initialValues: { days: offer.needs_expires_at ? '30' : untilRevoked, reason: '' },
    validate: { reason: isNotEmpty('Say why it is a false alarm') },
  })
  const submit = form.onSubmit(({ days, reason }) => {
    const end =
      days === untilRevoked ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }
    create.mutate(
      { query: { project_id: projectId }, body: { ...offer.rule, ...end, reason: reason.trim() } },
      {
        onSuccess: () => {
          notifications.show({ message: 'Scores like these are marked from now on.' })
          onClose()
        },
      },
    )
  })
  return (
    <FormModal
      title="Also suppress what comes again?"
      onClose={onClose}
      onSubmit={submit}
      error={create.error}
      isPending={create.isPending}
      submit="Suppress"
    >
      <WhatItCovers offer={offer} />
      <Select
        label="Ends"
        data={
          offer.needs_expires_at ? spans : [{ value: untilRevoked, label: 'When it is revoked' }, ...spans]
        }
        allowDeselect={false}
        {...form.getInputProps('days')}
      />
      <Textarea
        label="Reason"
        autosize
        minRows={2}
        maxLength={1_000}
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </FormModal>
  )
}

function WhatItCovers({ offer }: Pick<SuppressionOffered, 'offer'>) {
  return (
    <>
      <Text size="sm">
        The finding is a false alarm. A suppression marks scores like its own as known false alarms: they make
        no finding, and nothing is deleted.
      </Text>
      <Text size="sm">
        It covers <PlainText text={coversOf(offer.rule)} />.
      </Text>
      <Text size="sm" fw={600} role="status">
        It would have covered {formatCount(offer.covered)} of {formatCount(offer.examined)}
        {offer.is_complete ? '' : ' newest'} unsafe scores of the last 30 days.
      </Text>
    </>
  )
}

type Rule = SuppressionOffered['offer']['rule']

function coversOf({ scorer_name, kind, agent_name, tool_name, max_severity }: Rule): string {
  const parts = [
    `${scorer_name} up to ${max_severity}`,
    ...(kind === undefined ? [] : [`kind ${kind}`]),
    ...(tool_name === undefined ? [] : [`tool ${tool_name}`]),
    ...(agent_name === undefined ? [] : [`agent ${agent_name}`]),
  ]
  return parts.join(', ')
}
