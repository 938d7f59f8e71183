import type { Answer, Item } from '../../api/call-api.ts'
import { absent, formatShare } from '../../formats/format-number.ts'

export type RedTeamRun = Item<'GET /api/redteam-runs'>
export type RedTeamDiff = Answer<'GET /api/redteam-runs/{id}/diff'>
export type Attempt = Answer<'GET /api/redteam-runs/{id}/attempts'>['items'][number]
export type Transformation = Attempt['transformation']
type Counted = NonNullable<RedTeamDiff['categories'][number]['after']>

export const statusColors: Readonly<Record<RedTeamRun['status'], string>> = {
  queued: 'gray',
  running: 'blue',
  scoring: 'blue',
  done: 'green',
  cancelled: 'gray',
  failed: 'red',
}

/** The target, in one line. */
export function describeTarget({ target }: RedTeamRun): string {
  if (target.kind === 'chat' || target.kind === 'http') return target.url
  return target.kind === 'command' ? 'a command' : `recorded by ${target.format}`
}

/** Transformations of an attack before it is sent. */
export const transformationNames: Readonly<Record<Transformation, string>> = {
  plain: 'As written',
  base64: 'Base64',
  hex: 'Hexadecimal',
  rot13: 'ROT13',
  backwards: 'Backwards',
  leetspeak: 'Digits for letters',
  look_alikes: 'Look-alike letters',
  zero_width: 'Invisible characters',
  full_width: 'Full-width letters',
  spaced: 'A blank after each letter',
  tag_letters: 'Letters that are not shown',
  role_play: 'Role play',
  developer_mode: 'Developer mode',
  no_refusal: 'Refusing forbidden',
  translation_table: 'Table of other letters',
  payload_splitting: 'In pieces',
  many_shot: 'After many examples',
  crescendo: 'Step by step',
  json_form: 'A JSON form',
  story_frame: 'A story',
  adaptive: 'Adaptive, by a model',
}

/** The share of successful attacks with its 95 % interval: few attempts say little. */
export function describeRate(counted: Counted | null): string {
  if (counted?.fail_rate == null) return absent
  const { fail_rate: rate, fail_rate_low: low, fail_rate_high: high } = counted
  return low === null || high === null
    ? formatShare(rate, 1)
    : `${formatShare(rate, 1)} (${formatShare(low, 1)} to ${formatShare(high, 1)})`
}

export function isUnderWay({ status }: RedTeamRun): boolean {
  return ['queued', 'running', 'scoring'].includes(status)
}
