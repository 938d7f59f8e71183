import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useRef } from 'react'
import type { Input } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { notifyResult } from '../../parts/confirm-action.tsx'
import { batchesOf } from './batches-of.ts'
import { doneWords, type Finding } from './finding-texts.ts'

const changed = [
  ...(['GET /api/findings', 'GET /api/findings/facets', 'GET /api/findings/{id}'] as const),
  ...(['GET /api/status', 'GET /api/status/projects'] as const),
]
const undoShownMs = 15_000

export type FindingChange = Omit<Input<'POST /api/findings/bulk'>['body'], 'ids' | 'author'>

/** A change that can be undone. */
interface Done {
  projectId: string
  changeId: string
}

/** Changes findings, says what became of them, and takes it back. */
export function useFindingChanges() {
  const bulk = useApiChange('POST /api/findings/bulk', changed)
  const one = useApiChange('PATCH /api/findings/{id}', changed)
  const undoing = useApiChange('POST /api/findings/changes/{change_id}/undo', changed)
  const last = useRef<readonly Done[]>([])
  const undo = async (all: readonly Done[]) => {
    last.current = []
    if (all.length === 0) return
    await notifyResult(undoAll(all), saidOfUndo)
  }
  const undoAll = async (all: readonly Done[]) => {
    const count = { skipped: 0, withoutOwner: 0 }
    for (const { projectId, changeId } of all) {
      const params = { change_id: changeId }
      const answer = await undoing.mutateAsync({ params, query: { project_id: projectId }, body: {} })
      count.skipped += answer.skipped.length
      count.withoutOwner += answer.without_owner.length
    }
    return count
  }
  const offerUndo = (message: string, all: readonly Done[]) => {
    last.current = all
    const id = `undo ${all[0]?.changeId ?? ''}`
    const take = () => {
      notifications.hide(id)
      void undo(all)
    }
    notifications.show({ id, message: <Undoable message={message} onUndo={take} />, autoClose: undoShownMs })
  }
  /** In the findings' own projects, each in one transaction. Resolves to whether all were sent. */
  const change = async (findings: readonly Finding[], body: FindingChange): Promise<boolean> => {
    const all: Done[] = []
    const count = { done: 0, skipped: 0 }
    let isSent = true
    for (const { projectId, ids } of batchesOf(findings)) {
      const input = { query: { project_id: projectId }, body: { ids, ...body } }
      const answer = await bulk.mutateAsync(input).catch(showFailure)
      isSent = answer !== null
      if (answer === null) break
      if (answer.changed.length > 0) all.push({ projectId, changeId: answer.change_id })
      count.done += answer.changed.length
      count.skipped += answer.skipped.length
    }
    const message = saidOf(count.done, count.skipped, body)
    if (all.length > 0) offerUndo(message, all)
    else if (isSent) notifications.show({ message })
    return isSent
  }
  /** Resolves to the suppression that covers what it found; null: there is none, or it failed. */
  const markFalseAlarm = async ({ id, project_id: projectId }: Finding) => {
    const body = { state: 'false_alarm' as const }
    const input = { params: { id }, query: { project_id: projectId }, body }
    const answer = await one.mutateAsync(input).catch(showFailure)
    if (answer === null) return null
    offerUndo(saidOf(1, 0, body), [{ projectId, changeId: answer.change_id }])
    return answer.suppression
  }
  const isPending = bulk.isPending || one.isPending || undoing.isPending
  return { change, markFalseAlarm, undo, undoLast: () => void undo(last.current), isPending }
}

function Undoable({ message, onUndo }: { message: string; onUndo: () => void }) {
  return (
    <Group justify="space-between" wrap="nowrap">
      {message}
      <Button size="compact-sm" variant="default" onClick={onUndo}>
        Undo
      </Button>
    </Group>
  )
}

async function showFailure(error: Error): Promise<null> {
  await notifyResult(Promise.reject(error), '')
  return null
}

function saidOfUndo({ skipped, withoutOwner }: { skipped: number; withoutOwner: number }): string {
  const undone = skipped === 0 ? 'Undone.' : `Undone, but for ${formatCount(skipped)} that changed since.`
  if (withoutOwner === 0) return undone
  const findings = `${formatCount(withoutOwner)} ${nounOf(withoutOwner, 'finding')}`
  return `${undone} ${findings} without owner: the former one no longer sees the project.`
}

function saidOf(done: number, skipped: number, { state, owner }: FindingChange): string {
  const what = state === undefined ? (owner === null ? 'without owner' : 'assigned') : doneWords[state]
  const left = skipped === 0 ? '' : ` ${formatCount(skipped)} left as before: the state does not allow it.`
  return `${formatCount(done)} ${nounOf(done, 'finding')} ${what}.${left}`
}
