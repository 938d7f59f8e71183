import { createWaitingLines, type Lane } from './judge/waiting-lines.ts'

/** Memory for calls that are read: large ones wait for each other. */
export interface CallRoom {
  /** Calls that take less wait for nobody: as many as jobs are scored at once are little. */
  readonly smallBytes: number
  /** Runs `work`, which holds a call that takes `bytes`, when there is room. Rejects with the signal's reason when it aborts while waiting. */
  run<T>(bytes: number, work: () => Promise<T>, signal: AbortSignal, lane: Lane): Promise<T>
}

interface RoomOptions {
  /** While less than this is taken another may come in: at most so much and one call. */
  mostBytes: number
  smallBytes: number
  onChange: (usedBytes: number) => void
}

export function createCallRoom({ mostBytes, smallBytes, onChange }: RoomOptions): CallRoom {
  const lines = createWaitingLines()
  let used = 0
  const add = (bytes: number) => {
    used += bytes
    onChange(used)
  }
  const wake = () => {
    while (used < mostBytes) {
      const lane = (['live', 'replay'] as const).find((name) => !lines.isEmpty(name))
      if (lane === undefined) return
      lines.admit(lane)
    }
  }
  return {
    smallBytes,
    async run(bytes, work, signal, lane) {
      if (bytes < smallBytes) return work()
      const turn = lines.wait(lane, signal, { onAdmit: () => add(bytes) })
      wake()
      await turn
      try {
        return await work()
      } finally {
        add(-bytes)
        wake()
      }
    },
  }
}
