import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { CannotStart } from './embedded-part.ts'

const LOOPBACK = '127.0.0.1'

/** From 32768 on the kernel gives ports to connections of anybody: one of those could be taken again before its user listens. */
const [lowest, highest] = [10_000, 32_767]
const mostTries = 10_000

/** Ports that nothing listens on now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === mostTries)
      throw new CannotStart(`No ${count} ports between ${lowest} and ${highest} are free.`)
    const port = randomInt(lowest, highest)
    if (await isPortFree(port)) ports.add(port)
  }
  return [...ports]
}

/** Throws {@link CannotStart} naming the port and who wants it when something listens there already. */
export async function assertPortFree(port: number, wantedBy: string): Promise<void> {
  if (await isPortFree(port)) return
  throw new CannotStart(
    `Port ${port} for ${wantedBy} is taken by another process: stop that one, or choose other ports with --port-offset.`,
  )
}

export async function isPortFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port)
    await new Promise((resolve) => server.close(resolve))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

function listen(port: number): Promise<ReturnType<typeof createServer>> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      resolve(server)
    })
  })
}
