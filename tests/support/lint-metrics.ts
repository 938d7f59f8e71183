import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { prometheusTool } from './prometheus-tools.ts'

/**
 * Findings of `promtool check metrics` in the metrics that processes serve. Node's own, named by prom-client,
 * are left out.
 */
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
