import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { MomentPicker } from '../../parts/moment-picker.tsx'
import { Failure } from '../../parts/page-states.tsx'
import { scopeNames } from './key-scopes.ts'

interface CreateKeyProps {
  projectId: string
  isOpen: boolean
  onClose: () => void
  onCreated: (key: Answer<'POST /api/projects/{id}/keys'>) => void
}

interface KeyForm {
  name: string
  label: string
  scope: keyof typeof scopeNames
  /** By the picker: local time, null for never. */
  expires: string | null
}

const scopes = Object.entries(scopeNames).map(([value, label]) => ({ value, label }))

/** The form of a new key. */
export function CreateKey({ projectId, isOpen, onClose, onCreated }: CreateKeyProps) {
  const create = useApiChange('POST /api/projects/{id}/keys', ['GET /api/projects/{id}/keys'])
  const form = useForm<KeyForm>({
    initialValues: { name: '', label: '', scope: 'all', expires: null },
    validate: { name: isNotEmpty('A key needs a name') },
  })
  const submit = form.onSubmit(({ name, label, scope, expires }) =>
    create.mutate(
      {
        params: { id: projectId },
        body: {
          name,
          scope,
          ...(label === '' ? {} : { label }),
          ...(expires === null ? {} : { expires_at: new Date(expires).toISOString() }),
        },
      },
      {
        onSuccess: (key) => {
          form.reset()
          onCreated(key)
          onClose()
        },
      },
    ),
  )
  return (
    <Modal opened={isOpen} onClose={onClose} title="Create an API key">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            placeholder="checkout-agent"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Label"
            description="Whatever helps to recognise it"
            {...form.getInputProps('label')}
          />
          <Select label="May" data={scopes} allowDeselect={false} {...form.getInputProps('scope')} />
          <MomentPicker
            label="Expires"
            placeholder="Never"
            clearable
            minDate={new Date()}
            {...form.getInputProps('expires')}
          />
          {create.error === null ? null : <Failure error={create.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
