import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { callApi } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { isoText } from '../../formats/local-time.ts'
import { MomentPicker } from '../../parts/moment-picker.tsx'
import { notifyResult } from '../../parts/confirm-action.tsx'

interface ReplayRangeProps {
  projectId: string
  webhookId: string
}

/** Resends all failed or abandoned deliveries of a range. */
export function ReplayRange({ projectId, webhookId }: ReplayRangeProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [isRunning, setIsRunning] = useState(false)
  // The first page goes through the mutation, which refetches the list once all are queued.
  const refresh = useApiChange('POST /api/v1/webhooks/{id}/deliveries/replay', [
    'GET /api/v1/webhooks/{id}/deliveries',
  ])
  const replayAll = async (start: string, end: string) => {
    const input = { params: { id: webhookId }, query: { project_id: projectId } }
    let { replayed, next_cursor: cursor } = await refresh.mutateAsync({ ...input, body: { start, end } })
    while (cursor !== null) {
      const page = await callApi('POST /api/v1/webhooks/{id}/deliveries/replay', {
        ...input,
        body: { start, end, cursor },
      })
      replayed += page.replayed
      cursor = page.next_cursor
    }
    setIsOpen(false)
    return replayed
  }
  const run = async () => {
    const [start, end] = [isoText(from), isoText(to)]
    if (start === undefined || end === undefined) return
    setIsRunning(true)
    await notifyResult(replayAll(start, end), (count) => `${formatCount(count)} deliveries are resent.`)
    setIsRunning(false)
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        Resend failed
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Resend failed deliveries">
        <Stack>
          <Text size="sm">
            All deliveries of this range that failed or were not attempted for an hour, with their ids.
          </Text>
          <MomentPicker label="From" value={from} onChange={setFrom} />
          <MomentPicker label="To" value={to} onChange={setTo} />
          <Group justify="flex-end">
            <Button disabled={from === null || to === null} loading={isRunning} onClick={() => void run()}>
              Resend
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
