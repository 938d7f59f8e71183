import { createServer, type AddressInfo } from 'node:net'
import { CannotStart } from './embedded-part.ts'

const LOOPBACK = '127.0.0.1'

/** Ports that nothing listens on now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
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
