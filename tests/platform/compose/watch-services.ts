import { z } from 'zod'
import { until } from '../../support/until.ts'
import { textOf } from '../platform-part.ts'
import type { Compose } from './compose-tool.ts'

const container = z.object({
  Service: z.string(),
  State: z.string(),
  Health: z.string(),
  ExitCode: z.number(),
})

/** Waits until each is healthy, or has exited with 0 if it runs once. */
export async function awaitHealth(
  compose: Compose,
  wanted: readonly { name: string; endsItself: boolean }[],
): Promise<void> {
  let states = new Map<string, string>()
  await until(
    async () => {
      const lines = (await compose(['ps', '--all', '--format', 'json'])).trim().split('\n')
      const found = lines.map((line) => container.parse(JSON.parse(line)))
      states = new Map(found.map((one) => [one.Service, `${one.State} ${one.Health || one.ExitCode}`]))
      return wanted.every(
        ({ name, endsItself }) => states.get(name) === (endsItself ? 'exited 0' : 'running healthy'),
      )
    },
    600_000,
    () => JSON.stringify([...states]),
  )
}

const targets = z.object({
  data: z.object({
    activeTargets: z.array(
      z.object({ labels: z.record(z.string(), z.string()), health: z.string(), lastError: z.string() }),
    ),
  }),
})

/** Waits until Prometheus has scraped all its targets. */
export async function awaitTargets(): Promise<void> {
  let active: z.output<typeof targets>['data']['activeTargets'] = []
  await until(
    async () => {
      const answer = targets.parse(JSON.parse(await textOf('http://127.0.0.1:9090/api/v1/targets')))
      active = answer.data.activeTargets
      return active.length > 0 && active.every(({ health }) => health === 'up')
    },
    180_000,
    () => JSON.stringify(active.filter(({ health }) => health !== 'up')),
  )
}
