import { join } from 'node:path'

/**
 * The environment of programs that a test starts: nothing of ours leaks in. A compile cache halves the time
 * of a start.
 */
export const programEnvironment = () => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', '.cache', 'compiled'),
})
