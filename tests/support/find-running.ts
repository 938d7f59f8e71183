import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Addresses } from '#infra/embedded/start-temporary.ts'

/** The addresses in a file written by scripts/test-infra, or undefined when there is none or not all of it answers. */
export async function findRunning(file: string): Promise<Addresses | undefined> {
  const addresses = await readAddresses(file)
  if (!addresses) return undefined
  const ends = [
    ...addresses.brokers.map((broker) => `tcp://${broker}`),
    addresses.registryUrl,
    addresses.postgresUrl,
  ]
  const answers = await Promise.all(ends.map((end) => accepts(new URL(end))))
  return answers.every(Boolean) ? addresses : undefined
}

async function readAddresses(file: string): Promise<Addresses | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Addresses
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function accepts({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: 2000 })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.once('timeout', () => settle(false))
  })
}
