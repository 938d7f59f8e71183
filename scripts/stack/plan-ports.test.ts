import { expect, test } from '@jest/globals'
import { planPorts, refuseBlockedPorts, type PortName } from './plan-ports.ts'

const all = Object.keys(planPorts(0)) as PortName[]
const refuse =
  (offset: number, wanted: readonly PortName[] = all) =>
  () =>
    refuseBlockedPorts(planPorts(offset), wanted)

test.each([
  [2000, '10080 for gateway'],
  [3000, '6000 for dashboard'],
  [2060, '5060 for dashboard'],
  [1080, '10080 for apiOperations'],
  [1995, '10080 for registry'],
])('--port-offset %i is refused: nobody would reach port %s', async (offset, which) => {
  expect(refuse(offset)).toThrow(
    `Browsers and fetch contact nothing on port ${which}: choose another --port-offset.`,
  )
  // The reason why it is refused.
  const address = `http://127.0.0.1:${Number.parseInt(which)}/`
  await expect(fetch(address)).rejects.toMatchObject({ cause: { message: 'bad port' } })
})

test.each([
  ['of Kafka, which speaks no HTTP', 988, all],
  ['of what runs elsewhere', 1995, all.filter((name) => name !== 'registry')],
  ['that is nobody’s', 0, all],
  ['that is nobody’s', 40_000, all],
])('a port %s is not', (_whose, offset, wanted) => {
  expect(refuse(offset, wanted)).not.toThrow()
})
