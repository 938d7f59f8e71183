/** Runs work of the same name one after the other, in order. Work that fails stops no other. */
export function createOneAtATime(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const lastOf = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = lastOf.get(name)
    const mine = (before ?? Promise.resolve()).then(work, work)
    lastOf.set(name, mine)
    try {
      return await mine
    } finally {
      if (lastOf.get(name) === mine) lastOf.delete(name)
    }
  }
}
