import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { freePorts } from './free-port.ts'

test('a port is given out once, and to no other process, even while nothing listens on it', async () => {
  const ours = await freePorts(300)
  const module = new URL('free-port.ts', import.meta.url).href
  const program = `import { freePorts } from '${module}'; console.log(JSON.stringify(await freePorts(900)))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  const theirs = JSON.parse(said) as number[]
  expect(new Set([...ours, ...theirs]).size).toBe(1_200)
})
