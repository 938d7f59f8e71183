import { Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { FormModal } from '../../parts/form-modal.tsx'

interface OwnerDialogProps {
  projectId: string
  count: number
  /** The present one, if all have the same. */
  ownerId: string | null
  isPending: boolean
  onAssign: (owner: string | null) => void
  onClose: () => void
}

/** Asks who takes care of findings. */
export function OwnerDialog({ projectId, count, ownerId, isPending, onAssign, onClose }: OwnerDialogProps) {
  const form = useForm({ initialValues: { owner: ownerId ?? '' } })
  return (
    <FormModal
      title={`Owner of ${formatCount(count)} ${nounOf(count, 'finding')}`}
      onClose={onClose}
      onSubmit={form.onSubmit(({ owner }) => onAssign(owner === '' ? null : owner))}
      error={null}
      isPending={isPending}
      submit="Assign"
    >
      <Select
        label="Owner"
        data={useOwners(projectId, ownerId)}
        allowDeselect={false}
        searchable
        data-autofocus
        {...form.getInputProps('owner')}
      />
    </FormModal>
  )
}

/** Whoever sees the project, oneself first. */
function useOwners(projectId: string, ownerId: string | null) {
  const me = useMe().data
  const { data } = useApi('GET /api/findings/owners', { query: { project_id: projectId } })
  const owners = [
    { value: '', label: 'Nobody' },
    ...(me == null ? [] : [{ value: me.id, label: `${toVisibleText(me.name)} (you)` }]),
    ...(data?.owners ?? [])
      .filter(({ id }) => id !== me?.id)
      .map(({ id, name, login }) => ({ value: id, label: `${toVisibleText(name)} (${login})` })),
  ]
  const isKnown = ownerId === null || owners.some(({ value }) => value === ownerId)
  return isKnown ? owners : [...owners, { value: ownerId, label: 'The present owner' }]
}
