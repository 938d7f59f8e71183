import { useEffect, useState } from 'react'
import { isTypedInto, usePageKeys } from '../../app/page-keys.ts'
import { mayBecome, type Finding, type FindingState } from './finding-texts.ts'
import type { FindingActions } from './use-finding-actions.tsx'

export const linkIdOf = (finding: Finding) => `finding-${finding.id}`

interface RowKeysOptions {
  rows: readonly Finding[]
  /** Ticked rows; keys act on the active row if there are none. */
  ticked: readonly Finding[]
  /** Ticks a row, or no longer. */
  toggle: (finding: Finding) => void
  /** Null: the person only reads. */
  actions: FindingActions | null
  focusFilter: () => void
}

/** The row that keys act on. Its link has focus; when its finding leaves the list, the next one has it. */
export function useRowKeys({ rows, ticked, toggle, actions, focusFilter }: RowKeysOptions) {
  const [place, setPlace] = useState<number | null>(null)
  const index = place === null || rows.length === 0 ? null : Math.min(place, rows.length - 1)
  const active = index === null ? undefined : rows[index]
  const isBlocked = actions !== null && actions.dialog !== null
  const linkId = active === undefined ? undefined : linkIdOf(active)
  useEffect(() => {
    const link = linkId === undefined || isBlocked ? null : document.getElementById(linkId)
    // What has the focus in this row keeps it, and so does a field that is typed into.
    const held = document.activeElement
    if (link?.closest('tr')?.contains(held) !== true && !isTypedInto(held)) link?.focus()
  }, [linkId, isBlocked])
  const go = (by: number) => {
    if (!isBlocked) setPlace(index === null ? 0 : Math.min(Math.max(index + by, 0), rows.length - 1))
  }
  const chosen = ticked.length > 0 ? ticked : active === undefined ? [] : [active]
  const act = (state: FindingState) => {
    if (actions === null || isBlocked || actions.isPending) return
    const able = chosen.filter((finding) => mayBecome(finding.state, state))
    if (able.length === 0) return
    if (state === 'muted') actions.askMute(able)
    else actions.become(able, state)
  }
  usePageKeys({
    nextRow: () => go(1),
    previousRow: () => go(-1),
    focusFilter,
    select: () => {
      if (active !== undefined && actions !== null && !isBlocked) toggle(active)
    },
    acknowledge: () => act('acknowledged'),
    falseAlarm: () => act('false_alarm'),
    mute: () => act('muted'),
    resolve: () => act('resolved'),
    assign: () => {
      if (actions !== null && !isBlocked && chosen.length > 0) actions.askOwner(chosen)
    },
    undo: () => actions?.undoLast(),
  })
  return { active, setActive: (finding: Finding) => setPlace(rows.indexOf(finding)) }
}
