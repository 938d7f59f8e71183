/**
 * State shared by all copies of this package in a process: ES module, CommonJS, and other versions. The shape
 * under a name must never change.
 */
export function ofProcess<T extends object>(name: string, make: () => T): T {
  const shared = globalThis as Record<symbol, T | undefined>
  return (shared[Symbol.for(`@sluice/sdk ${name}`)] ??= make())
}
