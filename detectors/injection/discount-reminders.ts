import { findMatches } from '../find-matches.ts'
import type { Suspicion } from '../phrases/suspect.ts'

/** What coding agents add to tool results for their own model. */
const reminder = /<system-reminder>[^]{0,4000}?<\/system-reminder>/g
/** Left to the judge: anybody can write the element. 4 convict. */
const remindingPoints = 3
/** What such reminders say: not to mention them, and what the model is now to do. */
const said = new Set(['commands_the_reply', 'order_in_material', 'gives_an_order'])

/** Lowers the suspicion below conviction if all of it stands in an agent's own reminders. */
export function discountReminders(text: string, suspicion: Suspicion): Suspicion {
  const { points, kinds, hits } = suspicion
  if (points <= remindingPoints || !text.includes('<system-reminder>')) return suspicion
  if (!kinds.every((kind) => said.has(kind))) return suspicion
  const reminders = findMatches(text, reminder)
  const areInside = hits.every(({ start, end }) =>
    reminders.some(({ index, 0: whole }) => start >= index && end <= index + whole.length),
  )
  return areInside ? { ...suspicion, points: remindingPoints } : suspicion
}
