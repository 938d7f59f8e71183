import { hash } from 'node:crypto'
import { examineRedteamMark, redteamMarkSecret } from '#schemas/redteam-mark.ts'
import { createRemembered } from '../traffic/remembered.ts'
import type { CapturedBytes } from './captured-body.ts'

export const markOutcomes = ['genuine', 'forged', 'expired', 'used', 'no_secret'] as const
export type MarkOutcome = (typeof markOutcomes)[number]

/** A mark and its time of arrival. */
export interface AttackMark {
  text: string
  arrivedMs: number
}

/** Whether the red team records the call itself. Called once per call, with the complete request. */
export type IsMarkedAttack = (mark: AttackMark, request: CapturedBytes) => boolean

/** A mark is valid for one call. 50,000 marks outlast their validity at 150 a second. */
const remembered = 50_000

/** Forged, expired and reused marks are counted and change nothing: hiding a call needs the secret. */
export function createAttackMarks(
  config: Parameters<typeof redteamMarkSecret>[0],
  onMark: (outcome: MarkOutcome) => void,
): IsMarkedAttack {
  const secret = redteamMarkSecret(config)
  const isNew = createRemembered(remembered)
  const examine = ({ text, arrivedMs }: AttackMark, request: CapturedBytes): MarkOutcome => {
    if (secret === undefined) return 'no_secret'
    const sha256 = request.sha256 ?? hash('sha256', request.bytes, 'hex')
    const outcome = examineRedteamMark(text, secret, { sha256, arrivedMs })
    return outcome === 'genuine' && !isNew(text) ? 'used' : outcome
  }
  return (mark, request) => {
    const outcome = examine(mark, request)
    onMark(outcome)
    return outcome === 'genuine'
  }
}
