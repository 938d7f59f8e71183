import { expect, test } from '@jest/globals'
import { parseArguments } from './parse-arguments.ts'

test.each([
  [[], 'run'],
  [['--detach'], 'detach'],
  [['--stop'], 'stop'],
  [['--status'], 'status'],
  [['-h'], 'help'],
])('%j is the command %s', (args, command) => {
  expect(parseArguments(args, '/work').command).toBe(command)
})

test('the state directory is .sluice of the working directory unless --state names another', () => {
  expect(parseArguments([], '/work').stateDirectory).toBe('/work/.sluice')
  expect(parseArguments(['--state', 'other'], '/work').stateDirectory).toBe('/work/other')
  expect(parseArguments(['--state', '/var/lib/sluice'], '/work').stateDirectory).toBe('/var/lib/sluice')
})

test.each([
  ['an unknown option', ['--detached'], "'--detached'"],
  ['two commands', ['--stop', '--status'], '--stop and --status exclude each other'],
  ['an offset that is no number', ['--port-offset', 'x'], '--port-offset takes a whole number'],
  ['a negative offset', ['--port-offset=-1'], '--port-offset takes a whole number'],
  ['an offset beyond the last port', ['--port-offset', '60000'], '--port-offset takes a whole number'],
])('%s is refused', (_name, args, message) => {
  expect(() => parseArguments(args, '/work')).toThrow(message)
})
