import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#runtime/errors.ts'
import type { ComparedSystem } from './compared-system.ts'
import { readLeftOver } from './read-left-over.ts'

export interface Rest {
  leftOver: Record<string, number>
  /** Time until rest. */
  tookMs: number
}

// A record that moves from one place to the next is briefly in neither.
const looks = 3
const betweenLooksMs = 1_500

/**
 * Resolves when several checks in a row find nothing under way, or with what is left after `withinMs`. Dead
 * letters stay and count as left over.
 */
export async function awaitRest(fixture: Omit<ComparedSystem, 'projects'>, withinMs: number): Promise<Rest> {
  const startedMs = performance.now()
  let leftOver: Record<string, number> = {}
  let quiet = 0
  while (quiet < looks && performance.now() - startedMs < withinMs) {
    await sleep(betweenLooksMs)
    try {
      leftOver = await readLeftOver(fixture)
    } catch (error) {
      leftOver = { [`looks failed: ${messageOf(error)}`]: 1 }
    }
    const isQuiet = Object.entries(leftOver).every(
      ([what, count]) => count === 0 || what.startsWith('dead letters'),
    )
    quiet = isQuiet ? quiet + 1 : 0
  }
  return { leftOver, tookMs: Math.round(performance.now() - startedMs) }
}
