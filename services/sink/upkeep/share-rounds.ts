import type { RoundEnd } from './periodic-task.ts'
import type { OwnRound, RoundStore } from '../stores/round-store.ts'

/**
 * One round for all sinks. Who did the last one does the next, as what it saw in one tells it in the next how far Kafka has come; another when it
 * is half an interval late, or fails for so long. That two are never at it at once is for the round itself to see to: one that takes so long is begun again by another
 * sink. `run` gets the number of the round, counted over all sinks.
 */
export function shareRounds(
  rounds: RoundStore,
  run: (signal: AbortSignal, number: number) => Promise<RoundEnd>,
): (signal: AbortSignal) => Promise<RoundEnd> {
  let own: OwnRound | undefined
  return async (signal) => {
    const begun = await rounds.begin(own)
    if (!('number' in begun)) return begun
    own = { number: begun.number, hasFailed: true }
    const end = await run(signal, begun.number)
    // One that was told to stop has perhaps not come to its end.
    if (typeof end === 'boolean') await rounds.end(begun.number, end || signal.aborted)
    own.hasFailed = false
    return end
  }
}
