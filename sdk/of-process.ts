/**
 * What all copies of this package in a process share: the ES module and the CommonJS one, which a program and its dependencies may load both,
 * and other versions of it. So its shape must never change under a name.
 */
export function ofProcess<T extends object>(name: string, make: () => T): T {
  const shared = globalThis as Record<symbol, T | undefined>
  return (shared[Symbol.for(`@sluice/sdk ${name}`)] ??= make())
}
