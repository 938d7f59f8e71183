import type { Answer } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { notifyResult } from '../../parts/confirm-action.tsx'

/** Resends selected deliveries and shows the result. */
export function useReplay({ projectId, webhookId }: { projectId: string; webhookId: string }) {
  const replay = useApiChange('POST /api/v1/webhooks/{id}/deliveries/replay-chosen', [
    'GET /api/v1/webhooks/{id}/deliveries',
  ])
  const send = async (deliveryIds: string[]): Promise<boolean> => {
    const sending = replay.mutateAsync({
      params: { id: webhookId },
      query: { project_id: projectId },
      body: { delivery_ids: deliveryIds },
    })
    return notifyResult(sending, saidOf)
  }
  return { send, isSending: replay.isPending }
}

type Replayed = Answer<'POST /api/v1/webhooks/{id}/deliveries/replay-chosen'>

function saidOf({ replayed, skipped }: Replayed): string {
  const sent =
    replayed === 1 ? 'Resent with the same id.' : `${formatCount(replayed)} are resent with the same ids.`
  return skipped.length === 0 ? sent : `${sent} ${formatCount(skipped.length)} are already in progress.`
}
