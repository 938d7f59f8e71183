import { Button, Group, Modal, Stack, type ModalProps } from '@mantine/core'
import type { ReactNode, SubmitEventHandler } from 'react'
import { Failure } from './page-states.tsx'

interface FormModalProps extends Pick<ModalProps, 'onClose' | 'size'> {
  title: string
  onSubmit: SubmitEventHandler<HTMLFormElement>
  error: Error | null
  isPending: boolean
  /** Label of the submit button. */
  submit: string
  color?: string
  /** Other buttons, before the submit button. */
  beside?: ReactNode
  /** The fields. */
  children: ReactNode
}

/** A form in a dialog: fields, error, submit button. */
export function FormModal({
  onSubmit,
  error,
  isPending,
  submit,
  color,
  beside,
  children,
  ...rest
}: FormModalProps) {
  return (
    <Modal opened {...rest}>
      <form onSubmit={onSubmit}>
        <Stack>
          <div className="dialog-fields">
            <Stack>{children}</Stack>
          </div>
          {error === null ? null : <Failure error={error} />}
          <Group justify="flex-end">
            {beside}
            <Button type="submit" loading={isPending} {...(color === undefined ? {} : { color })}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
