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
export function askFirst({ title, consequence, confirm, isDangerous = true, action, done }: Question): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel: 'Leave it' },
    ...(isDangerous ? { confirmProps: { color: 'red' } } : {}),
    onConfirm: () => void sayHowItWent(action(), done),
  })
}

/** Shows a notification of success or failure; resolves to whether it succeeded. */
export async function sayHowItWent<T>(
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
      title: 'That did not work',
      message: error instanceof Error ? error.message : 'No reason was given.',
      autoClose: false,
    })
    return false
  }
}
