import { Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { rowsIn } from '../../api/call-api.ts'
import { useMe } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { FormModal } from '../../parts/form-modal.tsx'

interface OwnerDialogProps {
  count: number
  /** The present one, if all have the same. */
  ownerId: string | null
  isPending: boolean
  onAssign: (owner: string | null) => void
  onClose: () => void
}

/** Asks who takes care of findings. */
export function OwnerDialog({ count, ownerId, isPending, onAssign, onClose }: OwnerDialogProps) {
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
        data={useOwners(ownerId)}
        allowDeselect={false}
        searchable
        data-autofocus
        {...form.getInputProps('owner')}
      />
    </FormModal>
  )
}

/** Only administrators see who else there is: others take findings, and leave them. */
function useOwners(ownerId: string | null) {
  const me = useMe().data
  const people = useApi(
    'GET /api/people',
    { query: { page: '1', page_size: '200' } },
    { enabled: me?.role === 'admin' },
  )
  const others = people.data === undefined ? [] : rowsIn<'GET /api/people'>(people.data)
  const owners = [
    { value: '', label: 'Nobody' },
    ...(me == null ? [] : [{ value: me.id, label: `${toVisibleText(me.name)} (you)` }]),
    ...others
      .filter(({ id, disabled }) => id !== me?.id && !disabled)
      .map(({ id, name, login }) => ({ value: id, label: `${toVisibleText(name)} (${login})` })),
  ]
  const isKnown = ownerId === null || owners.some(({ value }) => value === ownerId)
  return isKnown ? owners : [...owners, { value: ownerId, label: 'The present owner' }]
}
