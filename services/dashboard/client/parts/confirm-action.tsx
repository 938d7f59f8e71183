import { Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'

interface Question {
  title: string
  /** What changes, and for whom. */
  consequence: string
  confirm: string
  isDangerous?: boolean
  action: () => Promise<unknown>
  /** Shown when done. */
  done: string
}

/** Asks for confirmation of an irreversible action, runs it, and shows the result. */
export function confirmAction({
  title,
  consequence,
  confirm,
  isDangerous = true,
  action,
  done,
}: Question): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel: 'Go back' },
    ...(isDangerous ? { confirmProps: { color: 'red' } } : {}),
    onConfirm: () => void notifyResult(action(), done),
  })
}

/** Shows a notification of success or failure; resolves to whether it succeeded. */
export async function notifyResult<T>(
  action: Promise<T>,
  done: string | ((result: T) => string),
): Promise<boolean> {
  try {
    const result = await action
    notifications.show({ message: typeof done === 'string' ? done : done(result) })
    return true
  } catch (error) {
    notifications.show({
      color: 'red',
      title: 'Request failed',
      message: error instanceof Error ? error.message : 'Unknown error',
      autoClose: false,
    })
    return false
  }
}
