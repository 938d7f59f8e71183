import { expect, test } from '@jest/globals'
import type { ClientCall } from '../load/client-call.ts'
import { compareLedgers } from './compare-ledgers.ts'
import type { Found, FoundProject } from './found.ts'

const call = (id: string, changes: Partial<ClientCall> = {}): ClientCall => ({
  id,
  project: 'open',
  way: 'gateway',
  end: 'taken',
  content: null,
  ...changes,
})

const project = (name: FoundProject['name'], changes: Partial<FoundProject>): FoundProject => ({
  name,
  quota: null,
  counter: 0,
  scorers: ['one', 'pii_detection'],
  usageEvents: 0,
  withBodies: 0,
  keepsContent: true,
  ...changes,
})

/**
 * Two calls through gateways, one of them unsafe; in the limited project one that fits and one that does not.
 */
function sound(): Found {
  return {
    calls: [
      call('a', { content: 'card' }),
      call('b', { content: 'harmless' }),
      call('broken', { end: 'unknown' }),
      call('c', { project: 'limited', way: 'direct' }),
      call('over', { project: 'limited', way: 'direct', end: 'refused' }),
    ],
    problems: [],
    lost: 0,
    projects: [
      project('open', { counter: 2, withBodies: 2 }),
      project('limited', { counter: 10, quota: { limit: 10, usedBefore: 9 }, usageEvents: 1, withBodies: 1 }),
    ],
    stored: [
      { project: 'open', id: 'a' },
      { project: 'open', id: 'b' },
      { project: 'limited', id: 'c' },
    ],
    unsafeScores: ['a/pii_detection'],
    threatEvents: ['a/pii_detection'],
    scorerSets: [
      { project: 'open', scorers: 'one,pii_detection', calls: 2 },
      { project: 'limited', scorers: 'one,pii_detection', calls: 1 },
    ],
    rollups: [{ project: 'open', table: 'call_rollups', rows: 1, isRight: true }],
    deliveries: [
      { id: 'd1', receiver: 'steady', status: 'delivered', attempts: 1 },
      { id: 'd2', receiver: 'failing', status: 'failed', attempts: 4 },
    ],
    deliveriesExpected: ['e1/w1', 'e1/w2'],
    deliveriesMade: ['e1/w1', 'e1/w2'],
    receipts: [
      { receiver: 'steady', deliveryId: 'd1', taken: 1 },
      { receiver: 'failing', deliveryId: 'd2', taken: 0 },
    ],
    orphans: { 'scores without their call': 0 },
    leftOver: { 'events unpublished': 0 },
  }
}

function wrongIn(found: Found): string[] {
  return compareLedgers(found)
    .filter(({ wrong }) => wrong.length > 0)
    .map(({ invariant }) => invariant)
}

test('a sound system: no violation, and everything was checked', () => {
  expect(wrongIn(sound())).toEqual([])
  expect(compareLedgers(sound()).filter(({ checked }) => checked === 0)).toEqual([])
})

test('a call without an answer may be stored or not', () => {
  const found = sound()
  const [open, limited] = found.projects as [FoundProject, FoundProject]
  const stored = [...found.stored, { project: 'open' as const, id: 'broken' }]
  const scorerSets = [
    ...found.scorerSets,
    { project: 'open' as const, scorers: 'one,pii_detection', calls: 1 },
  ]
  const projects = [{ ...open, counter: 3, withBodies: 3 }, limited]
  expect(wrongIn({ ...found, stored, scorerSets, projects })).toEqual([])
})

const change = (place: number, changes: Partial<FoundProject>) => (found: Found) => ({
  projects: found.projects.map((each, index) => (index === place ? { ...each, ...changes } : each)),
})

test.each<[string, (found: Found) => Partial<Found>, string]>([
  ['a lost call', ({ stored }) => ({ stored: stored.slice(1) }), 'every answered call is stored'],
  ['a loss that is none', () => ({ lost: 2 }), 'every answered call is stored'],
  [
    'a call stored twice',
    ({ stored }) => ({ stored: [...stored, { project: 'open', id: 'a' }] }),
    'no call is stored twice',
  ],
  [
    'a refused call that is stored',
    ({ stored }) => ({ stored: [...stored, { project: 'limited', id: 'over' }] }),
    'what is refused is not stored',
  ],
  [
    'a call from nowhere',
    ({ stored }) => ({ stored: [...stored, { project: 'open', id: 'x' }] }),
    'nothing is stored that nobody sent',
  ],
  [
    'a client that is never answered',
    ({ calls }) => ({ calls: [...calls, call('y', { way: 'direct', end: 'unknown' })] }),
    'who may ask again is answered in the end',
  ],
  ['an answer that is an error', () => ({ problems: ['500'] }), 'clients were answered, and as they may be'],
  ['a counter that is off', change(0, { counter: 3 }), 'the quota is exact (open)'],
  ['a limit that was passed', change(1, { counter: 11 }), 'the quota is exact (limited)'],
  [
    'refused before the limit',
    change(1, { quota: { limit: 10, usedBefore: 8 }, counter: 9 }),
    'the quota is exact (limited)',
  ],
  ['a limit passed in silence', change(1, { usageEvents: 0 }), 'the quota is exact (limited)'],
  [
    'a call that is not scored',
    ({ scorerSets }) => ({ scorerSets: scorerSets.map((set) => ({ ...set, calls: 1 })) }),
    'each scorer has scored each call once',
  ],
  [
    'a scorer that scored twice',
    ({ scorerSets }) => ({ scorerSets: scorerSets.map((set) => ({ ...set, scorers: 'one,one' })) }),
    'each scorer has scored each call once',
  ],
  [
    'a wrong scorer in the right number',
    ({ scorerSets }) => ({ scorerSets: scorerSets.map((set) => ({ ...set, scorers: 'one,other' })) }),
    'each scorer has scored each call once',
  ],
  [
    'a scorer too few',
    ({ scorerSets }) => ({ scorerSets: scorerSets.map((set) => ({ ...set, scorers: 'one' })) }),
    'each scorer has scored each call once',
  ],
  [
    'a roll-up that is off',
    () => ({ rollups: [{ project: 'open', table: 'call_rollups', rows: 1, isRight: false }] }),
    'roll-ups equal a recount',
  ],
  [
    'a threat without its event',
    () => ({ threatEvents: [] }),
    'each failing score has raised its event once',
  ],
  [
    'an event for a score that is not unsafe',
    () => ({ unsafeScores: [] }),
    'each failing score has raised its event once',
  ],
  [
    'one event missing while another is doubled',
    () => ({ unsafeScores: ['a/one', 'a/pii_detection'], threatEvents: ['a/one', 'a/one'] }),
    'each failing score has raised its event once',
  ],
  [
    'a verdict of unsafe that was lost with its event',
    () => ({ unsafeScores: [], threatEvents: [] }),
    'calls whose verdict is known have it',
  ],
  [
    'a harmless call found unsafe, with an event',
    ({ unsafeScores }) => {
      const failures = [...unsafeScores, 'b/one']
      return { unsafeScores: failures, threatEvents: failures }
    },
    'calls whose verdict is known have it',
  ],
  [
    'an event without its delivery',
    ({ deliveriesMade }) => ({ deliveriesMade: deliveriesMade.slice(1) }),
    'each event has one delivery for each webhook',
  ],
  [
    'one delivery missing while another is doubled',
    () => ({ deliveriesMade: ['e1/w1', 'e1/w1'] }),
    'each event has one delivery for each webhook',
  ],
  [
    'a delivery nobody got',
    ({ receipts }) => ({ receipts: receipts.map((receipt) => ({ ...receipt, taken: 0 })) }),
    'each delivery was taken by its receiver, or failed four times',
  ],
  [
    'a delivery given up early',
    ({ deliveries }) => ({ deliveries: deliveries.map((each) => ({ ...each, attempts: 1 })) }),
    'each delivery was taken by its receiver, or failed four times',
  ],
  ['a request from nowhere', () => ({ deliveries: [] }), 'nothing was sent that is no delivery'],
  [
    'content that should not be there',
    change(0, { keepsContent: false }),
    'bodies are there, except of who keeps none',
  ],
  ['an orphan', () => ({ orphans: { 'scores without their call': 1 } }), 'no row without what it belongs to'],
  [
    'a record that is stuck',
    () => ({ leftOver: { 'records before the sink': 1 } }),
    'nothing is stuck or left over',
  ],
])('%s is found', (_name, breakIt, invariant) => {
  const found = sound()
  expect(wrongIn({ ...found, ...breakIt(found) })).toContain(invariant)
})

test('calls that a gateway counts as lost may be missing; calls sent to ingest may not', () => {
  const found = sound()
  const [open, limited] = found.projects as [FoundProject, FoundProject]
  const fewer = {
    stored: found.stored.slice(1),
    scorerSets: found.scorerSets.map((set) => ({ ...set, calls: 1 })),
    ...{ unsafeScores: [], threatEvents: [] },
    projects: [{ ...open, counter: 1, withBodies: 1 }, limited],
  }
  expect(wrongIn({ ...found, ...fewer, lost: 1 })).toEqual([])
  const calls = found.calls.map((each) => (each.id === 'a' ? { ...each, way: 'direct' as const } : each))
  expect(wrongIn({ ...found, ...fewer, calls, lost: 1 })).toEqual(['every answered call is stored'])
})
