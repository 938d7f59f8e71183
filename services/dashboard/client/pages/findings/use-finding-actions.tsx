import { useState, type ReactNode } from 'react'
import type { Finding, FindingState } from './finding-texts.ts'
import { MuteDialog } from './mute-dialog.tsx'
import { OwnerDialog } from './owner-dialog.tsx'
import { SuppressionOffer, type SuppressionOffered } from './suppression-offer.tsx'
import { useFindingChanges, type FindingChange } from './use-finding-changes.tsx'

type Asked = { what: 'mute' | 'owner'; findings: readonly Finding[] } | SuppressionOffered

/** What people do with findings: at once, or after a dialog, which the page shows. */
export interface FindingActions {
  become: (findings: readonly Finding[], state: Exclude<FindingState, 'muted'>) => void
  askMute: (findings: readonly Finding[]) => void
  askOwner: (findings: readonly Finding[]) => void
  undoLast: () => void
  undo: ReturnType<typeof useFindingChanges>['undo']
  isPending: boolean
  /** The open dialog; null: none. */
  dialog: ReactNode
}

/** `onDone`: after findings were changed, so that a selection ends. */
export function useFindingActions(onDone: () => void = () => undefined): FindingActions {
  const changes = useFindingChanges()
  const { change, markFalseAlarm, isPending } = changes
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const run: Run = async (findings, body) => {
    if (!(await change(findings, body))) return
    close()
    onDone()
  }
  const offerFor = async (finding: Finding) => {
    const offer = await markFalseAlarm(finding)
    if (offer !== null) setAsked({ projectId: finding.project_id, offer })
    onDone()
  }
  const become: FindingActions['become'] = (findings, state) => {
    const [only, ...others] = findings
    if (only === undefined) return
    // The API says what a suppression would have covered for one at a time.
    if (state === 'false_alarm' && others.length === 0) void offerFor(only)
    else void run(findings, { state })
  }
  return {
    become,
    askMute: (findings) => setAsked({ what: 'mute', findings }),
    askOwner: (findings) => setAsked({ what: 'owner', findings }),
    undoLast: changes.undoLast,
    undo: changes.undo,
    isPending,
    dialog: asked === undefined ? null : dialogOf(asked, { run, isPending, close }),
  }
}

type Run = (findings: readonly Finding[], body: FindingChange) => Promise<void>

interface DialogOptions {
  run: Run
  isPending: boolean
  close: () => void
}

function dialogOf(asked: Asked, { run, isPending, close }: DialogOptions): ReactNode {
  if ('offer' in asked) return <SuppressionOffer offered={asked} onClose={close} />
  const { what, findings } = asked
  const shared = { count: findings.length, isPending, onClose: close }
  if (what === 'mute')
    return (
      <MuteDialog
        {...shared}
        onMute={(until) => void run(findings, { state: 'muted', muted_until: until })}
      />
    )
  const [first, ...others] = findings.map(({ owner }) => owner?.id ?? null)
  return (
    <OwnerDialog
      {...shared}
      projectId={findings[0]?.project_id ?? ''}
      ownerId={others.every((id) => id === first) ? (first ?? null) : null}
      onAssign={(owner) => void run(findings, { owner })}
    />
  )
}
