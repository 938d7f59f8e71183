import { Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'

interface Question {
  title: string
  /** What will be so afterwards, and for whom. */
  consequence: string
  confirm: string
  isDangerous?: boolean
  action: () => Promise<unknown>
  /** Said when it has been done. */
  done: string
}

/** Asks before something that cannot be taken back, does it, and says what came of it. */
export function askFirst({ title, consequence, confirm, isDangerous = true, action, done }: Question): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{consequence}</Text>,
    labels: { confirm, cancel: 'Leave it' },
    ...(isDangerous ? { confirmProps: { color: 'red' } } : {}),
    onConfirm: () => void sayHowItWent(action(), done),
  })
}

/** Says in passing that something was done, or what kept it from being done; resolves to whether it was. */
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
