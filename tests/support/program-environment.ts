import { join } from 'node:path'

/**
 * What a program finds around it that a test starts: nothing leaks in, it has what it is given. Half of what a start costs is reading and
 * compiling the same files as the last time.
 */
export const programEnvironment = () => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', '.cache', 'compiled'),
})
