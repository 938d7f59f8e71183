import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { CannotStart } from './embedded-part.ts'

const LOOPBACK = '127.0.0.1'

/**
 * Above 10080, which `fetch` and browsers refuse. Below the kernel's ephemeral ports, which start at 32768:
 * one of those could be taken before its user listens. Ports from 26000 are for callers that choose their own
 * (tests/e2e/scripts-up.test.ts).
 */
const [lowest, highest] = [10_112, 25_999]
const blockSize = 64
const maxTries = 10_000

/** Ports that this process owns and has not given out. Each is given out once. */
let block = Promise.resolve<number[]>([])

/**
 * Distinct free ports that no other process gets while this one lives. A process that restarts on its port
 * after a kill finds it free.
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

/** A block of ports. This process listens on the first as long as it lives; empty if another process does. */
async function claimBlock(): Promise<number[]> {
  const first = blockSize * randomInt(Math.ceil(lowest / blockSize), Math.floor(highest / blockSize))
  const holder = await listenIfFree(first)
  holder?.unref()
  return holder === undefined ? [] : Array.from({ length: blockSize - 1 }, (_, index) => first + 1 + index)
}

/** Throws {@link CannotStart} with the port and its intended user if something listens there. */
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
