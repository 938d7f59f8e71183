import { Button, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'

/** Changes one's own password, for instance one that an administrator has set and seen. */
export function ChangePassword() {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open}>
        Change password
      </Button>
      {isOpen ? <PasswordForm onClose={close} /> : null}
    </>
  )
}

function PasswordForm({ onClose }: { onClose: () => void }) {
  const change = useApiChange('POST /api/me/password', ['GET /api/me/logins'])
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: {
      current_password: (text) => (text === '' ? 'Enter your current password' : null),
      new_password: (text) => (text === '' ? 'Enter a new password' : null),
    },
  })
  const onSuccess = () => {
    notifications.show({ message: 'Your password is changed; your other sessions have ended.' })
    onClose()
  }
  return (
    <FormModal
      title="Change your password"
      onClose={onClose}
      onSubmit={form.onSubmit((body) => change.mutate({ body }, { onSuccess }))}
      error={change.error}
      isPending={change.isPending}
      submit="Change"
    >
      <PasswordInput
        label="Current password"
        autoComplete="current-password"
        data-autofocus
        {...form.getInputProps('current_password')}
      />
      <PasswordInput
        label="New password"
        autoComplete="new-password"
        {...form.getInputProps('new_password')}
      />
    </FormModal>
  )
}
