import { statfs } from 'node:fs/promises'

/** Asks a disk how much is free and waits for nothing: one that hangs would hold up who asks. One question at a time, which holds one thread of Node's four. */
export function createRoomQuestion(directory: string, onRoom: (freeBytes: number) => void): () => void {
  let isAsking = false
  const ask = async () => {
    isAsking = true
    try {
      const { bavail, bsize } = await statfs(directory)
      onRoom(bavail * bsize)
    } catch {
      // What is wrong with the disk is told by the spool, which writes to it.
    }
    isAsking = false
  }
  return () => {
    if (!isAsking) void ask()
  }
}
