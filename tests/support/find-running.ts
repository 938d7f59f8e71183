import { readFile } from 'node:fs/promises'
import { codeOf } from '#runtime/errors.ts'
import { answersAt } from '#infra/embedded/answers-at.ts'
import type { Addresses } from '#infra/embedded/start-temporary.ts'

/** The addresses in a file of scripts/test-infra; undefined if there is none or not all of them answer. */
export async function findRunning(file: string): Promise<Addresses | undefined> {
  const addresses = await readAddresses(file)
  if (!addresses) return undefined
  const ends = [
    ...addresses.brokers.map((broker) => `tcp://${broker}`),
    addresses.registryUrl,
    addresses.postgresUrl,
  ]
  const answers = await Promise.all(ends.map((end) => answersAt(new URL(end))))
  return answers.every(Boolean) ? addresses : undefined
}

async function readAddresses(file: string): Promise<Addresses | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Addresses
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
