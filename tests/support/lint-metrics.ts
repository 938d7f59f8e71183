import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { prometheusTool } from './prometheus-tools.ts'

/** What `promtool check metrics` finds in what the processes serve. Node's own metrics are named by prom-client. */
export async function lintMetrics(ports: Readonly<Record<string, number>>): Promise<string[]> {
  const promtool = await prometheusTool('promtool')
  const found = await Promise.all(
    Object.entries(ports).map(async ([service, port]) => {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
      const child = spawn(promtool, ['check', 'metrics'], { stdio: ['pipe', 'ignore', 'pipe'] })
      const said = text(child.stderr)
      child.stdin.end(await answer.text())
      await once(child, 'exit')
      return (await said)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('nodejs_'))
        .map((line) => `${service}: ${line}`)
    }),
  )
  return found.flat()
}
