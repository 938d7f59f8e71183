import { Select, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { isoText } from '../../formats/local-time.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { MomentPicker } from '../../parts/moment-picker.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { emptyLimits, limitsBody, type LimitValues } from './key-limits.ts'
import { LimitFields } from './limit-fields.tsx'

interface CreateKeyProps {
  projectId: string
  onClose: () => void
  onCreated: (key: Answer<'POST /api/projects/{id}/keys'>) => void
}

interface KeyForm extends LimitValues {
  name: string
  label: string
  scope: keyof typeof scopeNames
  /** The picker's local time; null: never. */
  expires: string | null
}

/** Scopes of a key as shown on the page. */
export const scopeNames = {
  ingest: 'Record calls',
  read: 'Read',
  all: 'Record and read',
} as const

const scopes = Object.entries(scopeNames).map(([value, label]) => ({ value, label }))

/** The form for a new key. */
export function CreateKey({ projectId, onClose, onCreated }: CreateKeyProps) {
  const create = useApiChange('POST /api/projects/{id}/keys', ['GET /api/projects/{id}/keys'])
  const form = useForm<KeyForm>({
    ...usePersistedValues<KeyForm>(`key.${projectId}`, {
      ...{ name: '', label: '', scope: 'all', expires: null },
      ...emptyLimits,
    }),
    validate: { name: isNotEmpty('Enter a name') },
  })
  const submit = form.onSubmit(({ name, label, scope, expires, ...limits }) =>
    create.mutate(
      {
        params: { id: projectId },
        body: {
          name,
          scope,
          ...(label === '' ? {} : { label }),
          expires_at: isoText(expires),
          ...limitsBody(limits),
        },
      },
      {
        onSuccess: (key) => {
          onCreated(key)
          onClose()
        },
      },
    ),
  )
  return (
    <FormModal
      title="Create an API key"
      onClose={onClose}
      onSubmit={submit}
      error={create.error}
      isPending={create.isPending}
      submit="Create"
    >
      <TextInput label="Name" placeholder="checkout-agent" data-autofocus {...form.getInputProps('name')} />
      <TextInput label="Label" description="Optional note" {...form.getInputProps('label')} />
      <Select label="Scope" data={scopes} allowDeselect={false} {...form.getInputProps('scope')} />
      <MomentPicker
        label="Expires"
        placeholder="Never"
        clearable
        minDate={new Date()}
        {...form.getInputProps('expires')}
      />
      <LimitFields inputOf={(field) => form.getInputProps(field)} />
    </FormModal>
  )
}
