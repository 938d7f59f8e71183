import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { CannotStart } from './embedded-part.ts'

const LOOPBACK = '127.0.0.1'

/**
 * From 32768 on the kernel gives ports to connections of anybody: one of those could be taken again before its user listens. From 26000 on they are for
 * whoever chooses ports himself (tests/e2e/scripts-up.test.ts).
 */
const [lowest, highest] = [10_000, 25_999]
const blockSize = 64
const maxTries = 10_000

/** Ports of this process that it has not given out, and gives out once. */
let block = Promise.resolve<number[]>([])

/**
 * Ports that nothing listens on now, all different, and that no other process is given while this one lives: whoever starts on one, or starts again on it
 * after a kill, finds it free.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === maxTries)
      throw new CannotStart(`No ${count} ports between ${lowest} and ${highest} are free.`)
    const port = (await block).shift()
    if (port === undefined) block = claimBlock()
    else if (await isPortFree(port)) ports.push(port)
  }
  return ports
}

/** Neighbouring ports, of which this process holds the first as long as it lives; none where another does. */
async function claimBlock(): Promise<number[]> {
  const first = blockSize * randomInt(Math.ceil(lowest / blockSize), Math.floor(highest / blockSize))
  const holder = await listenIfFree(first)
  holder?.unref()
  return holder === undefined ? [] : Array.from({ length: blockSize - 1 }, (_, index) => first + 1 + index)
}

/** Throws {@link CannotStart} naming the port and who wants it when something listens there already. */
export async function assertPortFree(port: number, wantedBy: string): Promise<void> {
  if (await isPortFree(port)) return
  throw new CannotStart(
    `Port ${port} for ${wantedBy} is taken by another process: stop that one, or choose other ports with --port-offset.`,
  )
}

export async function isPortFree(port: number): Promise<boolean> {
  const server = await listenIfFree(port)
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
  return server !== undefined
}

function listenIfFree(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => resolve(server))
  })
}
