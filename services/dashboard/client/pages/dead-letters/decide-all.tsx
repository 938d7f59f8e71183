import { Button } from '@mantine/core'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { confirmAction } from '../../parts/confirm-action.tsx'

/** Replays everything that the filters match, once the cause is fixed. */
export function DecideAll({ topic, code }: { topic: string | undefined; code: string | undefined }) {
  const redrive = useApiChange('POST /api/dead-letters/redrive', [
    'GET /api/dead-letters',
    'GET /api/operations',
  ])
  const sendBack = async () => {
    let sent = 0
    let after: string | null = null
    do {
      const page = await redrive.mutateAsync({
        body: {
          ...(topic === undefined ? {} : { topic }),
          ...(code === undefined ? {} : { code }),
          ...(after === null ? {} : { after }),
        },
      })
      const [first] = page.failed
      if (first !== undefined)
        throw new Error(
          `${formatCount(sent + page.redriven)} were sent back; ${formatCount(page.failed.length)} could not be: ${first.detail}`,
        )
      sent += page.redriven
      after = page.next
    } while (after !== null)
  }
  const ask = () =>
    confirmAction({
      title: 'Send all back?',
      consequence: `Every open dead letter${topic === undefined ? '' : ` of ${topic}`}${code === undefined ? '' : ` with ${code}`} goes back to its topic and is handled again. Records already stored are not changed.`,
      confirm: 'Send back',
      isDangerous: false,
      action: sendBack,
      done: 'Sent back.',
    })
  return (
    <Button size="xs" variant="default" loading={redrive.isPending} onClick={ask}>
      Send all back
    </Button>
  )
}
