import { messageOf } from '#runtime/errors.ts'
import { maxAdaptiveTurns, type AdaptiveAttacker } from '../attacks/adaptive-attacker.ts'
import { seededRandom } from '../attacks/seeded-random.ts'
import { transformations } from '../attacks/transformations.ts'
import type { Probe } from '../probes/probe.ts'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'
import type { Conversation, Target, TargetAnswer } from '../targets/target.ts'
import type { Pace } from './pace.ts'

/** The exchanges of an attempt: the last and those before it. Each is recorded and judged. */
export interface MadeAttempt {
  last:
    Exclude<TargetAnswer, { kind: 'busy' | 'unreached' }> | { kind: 'given_up' | 'stopped'; error: string }
  earlier: readonly AnsweredTurn[]
  /** Why the attacking model said nothing more: the attack ended early. */
  attackerError?: string
}

export type AnsweredTurn = Extract<TargetAnswer, { kind: 'answered' }>

export interface AskDependencies {
  target: Target
  pace: Pace
  /** Retries of one turn while nothing reaches the target. */
  maxUnreached: number
  /** How often in a row, over all senders, a target may turn requests away and take none. */
  maxTurnedAway: number
  signal: AbortSignal
}

export interface AttackDependencies extends AskDependencies {
  attacker: AdaptiveAttacker | undefined
  seed: string
}

/** Carries out one attempt, turn by turn. */
export async function makeAttempt(
  attempt: PlannedAttempt,
  probe: Probe,
  dependencies: AttackDependencies,
): Promise<MadeAttempt> {
  const { seed, attacker } = dependencies
  const random = seededRandom(seed, probe.id, attempt.transformation, String(attempt.repeat))
  const isAdaptive = attempt.transformation === 'adaptive'
  const turns =
    attempt.transformation === 'adaptive'
      ? probe.turns
      : transformations[attempt.transformation](probe.turns, random)
  const secret = () =>
    `rt7${seededRandom(seed, 'canary', probe.id)().toString(16).slice(2, 14).padEnd(12, '0')}`
  const fill = (text: string | undefined) => text?.replaceAll('{{canary}}', secret) ?? null
  let conversation: Conversation = {
    session: attempt.requestId,
    system: fill(probe.system),
    context: fill(probe.context),
    tools: probe.tools ?? [],
    said: [],
  }
  const earlier: AnsweredTurn[] = []
  const queue = [...turns]
  for (let turn = 0; ; turn++) {
    const text = queue.shift()
    if (text === undefined) throw new RangeError('an attempt has no turn')
    conversation = { ...conversation, said: [...conversation.said, { role: 'user', text }] }
    const answer = await ask(conversation, dependencies)
    if (answer.kind !== 'answered') return { last: answer, earlier }
    conversation = { ...conversation, said: [...conversation.said, { role: 'assistant', text: answer.text }] }
    if (isAdaptive && queue.length === 0 && turn + 1 < maxAdaptiveTurns && attacker !== undefined) {
      const next = await nextTurn(attacker, probe, conversation)
      if (typeof next === 'object') return { last: answer, earlier, ...next }
      if (next !== undefined) queue.push(next)
    }
    if (queue.length === 0) return { last: answer, earlier }
    earlier.push(answer)
  }
}

/** Undefined: the attacker has no more to say. */
async function nextTurn(attacker: AdaptiveAttacker, probe: Probe, conversation: Conversation) {
  try {
    return (await attacker(probe.goal ?? probe.turns.join('\n'), conversation)) ?? undefined
  } catch (error) {
    // An incomplete attack says nothing about the target.
    return { attackerError: messageOf(error).slice(0, 200) }
  }
}

const firstPauseMs = 250

/** Retries until the target takes the turn: turned away or unreached, nothing was worked on. */
export async function ask(
  conversation: Conversation,
  { target, pace, maxUnreached, maxTurnedAway, signal }: AskDependencies,
): Promise<MadeAttempt['last']> {
  for (let unreached = 0; ;) {
    const turn = await pace.turn(signal)
    // An abort ends the wait for a turn at once, which is no permission to send.
    if (signal.aborted) return { kind: 'stopped', error: 'STOPPED' }
    const answer = await target.ask(conversation)
    if (answer.kind === 'busy') {
      const inARow = pace.turnedAway(turn, answer.retryAfterMs)
      if (inARow > maxTurnedAway) return { kind: 'given_up', error: 'RATE_LIMITED' }
    } else if (answer.kind === 'unreached') {
      if (unreached >= maxUnreached) return { kind: 'given_up', error: `UNREACHED: ${answer.error}` }
      // All senders wait: the others would not reach it either.
      pace.hold(Math.min(10_000, firstPauseMs * 2 ** unreached++))
    } else {
      pace.taken(turn)
      return answer
    }
  }
}
