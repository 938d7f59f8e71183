import { idTimeMs } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { runProgram } from '../../platform/engine/run-program.ts'
import { conversations } from './conversations.ts'
import { seenInRecord, type Seen } from './seen-in-record.ts'

/** What is recorded of each conversation: its records, of which there should be one. */
export type Recorded = ReadonlyMap<string, readonly Seen[]>

interface Had {
  name: string
  startMs: number
  endMs: number
  /** What the client threw. */
  problem: string | null
}

/** Clocks of one machine differ by a little. The programs pause for 20 ms between calls. */
const toleranceMs = 9

/**
 * Runs a program that has all conversations, and finds their records by the times in identifiers. Tools that
 * the client runs have records of their own, which are left out. Throws where a client does not fail as the
 * provider does.
 */
export async function haveConversations(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  recordsOf: () => Promise<readonly LoggedCall[]>,
): Promise<Recorded> {
  const [binary = '', ...given] = command
  const said = await runProgram(binary, given, { env: { ...process.env, ...env }, timeoutMs: 300_000 })
  const all = JSON.parse(said.trim().split('\n').at(-1) ?? '') as Had[]
  for (const { name, problem } of all) {
    const fails = conversations.find((one) => one.name === name)?.answer.status !== undefined
    if (fails !== (problem !== null)) throw new Error(`${name}: the client says ${problem ?? 'no error'}`)
  }
  const records = (await recordsOf()).filter(({ type }) => type !== 'mcp_tool_call')
  return new Map(
    all.map(({ name, startMs, endMs }) => {
      const isWithin = (ms: number) => ms >= startMs - toleranceMs && ms <= endMs + toleranceMs
      const own = records.filter(({ id }) => isWithin(idTimeMs(id)))
      return [name, own.map(seenInRecord)]
    }),
  )
}
