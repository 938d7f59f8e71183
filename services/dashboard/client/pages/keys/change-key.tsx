import { TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { limitsBody, readLimits, type Key, type LimitValues } from './key-limits.ts'
import { LimitFields } from './limit-fields.tsx'

interface ChangeKeyProps {
  projectId: string
  apiKey: Key
  onClose: () => void
}

/** The form for what a key carries. */
export function ChangeKey({ projectId, apiKey, onClose }: ChangeKeyProps) {
  const change = useApiChange('PATCH /api/projects/{id}/keys/{key_id}', ['GET /api/projects/{id}/keys'])
  const form = useForm<LimitValues & { name: string }>({
    ...usePersistedValues(`key.${apiKey.id}`, { name: apiKey.name, ...readLimits(apiKey) }),
    validate: { name: isNotEmpty('Enter a name') },
  })
  const submit = form.onSubmit(({ name, ...limits }) =>
    change.mutate(
      { params: { id: projectId, key_id: apiKey.id }, body: { name, ...limitsBody(limits) } },
      { onSuccess: onClose },
    ),
  )
  return (
    <FormModal
      title={`Change “${apiKey.name}”`}
      onClose={onClose}
      onSubmit={submit}
      error={change.error}
      isPending={change.isPending}
      submit="Save"
    >
      <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
      <LimitFields inputOf={(field) => form.getInputProps(field)} />
    </FormModal>
  )
}
