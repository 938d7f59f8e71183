import { z } from 'zod'

/** `true` or `false`; false when unset. */
export function flag(defaultValue = false) {
  return z
    .enum(['true', 'false'])
    .default(defaultValue ? 'true' : 'false')
    .transform((text) => text === 'true')
}
