import type { RequestItem } from './merge-scores.ts'

/** What people have made of an unsafe call: of all its scores, or of some. */
export type Standing = 'false alarm' | 'partly false alarm' | 'confirmed'

/** Undefined: nobody has said anything of its unsafe scores, and no suppression covers them. */
export function readStanding({
  unsafe_scores: scores,
}: Pick<RequestItem, 'unsafe_scores'>): Standing | undefined {
  const isAlarm = scores.map(
    ({ expected_label, is_suppressed }) =>
      expected_label === 'safe' || (is_suppressed && expected_label === null),
  )
  if (isAlarm.length > 0 && isAlarm.every(Boolean)) return 'false alarm'
  if (isAlarm.some(Boolean)) return 'partly false alarm'
  return scores.some(({ expected_label }) => expected_label === 'unsafe') ? 'confirmed' : undefined
}
