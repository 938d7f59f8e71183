import type { Attempt, ThrottleStore } from '../stores/login-throttle-store.ts'
import type { PasswordHasher } from './hash-password.ts'

/** Whether the password is theirs. An attempt that could not be looked at (SIGN_IN_BUSY) is none that failed. */
export async function checkPassword(
  { hasher, throttles }: { hasher: PasswordHasher; throttles: ThrottleStore },
  attempt: Attempt,
  password: string,
  hash: string | null | undefined,
): Promise<boolean> {
  try {
    return await hasher.verify(password, hash)
  } catch (error) {
    await throttles.undo(attempt)
    throw error
  }
}
