import { milliseconds } from '#runtime/config.ts'

/** Time limits of calls and of applications. */
export const timeLimitFields = {
  CALL_TIMEOUT_MS: milliseconds(3_600_000, 86_400_000).describe(
    'Time limit of a whole call, including its answer; then it is aborted.',
  ),
  REQUEST_TIMEOUT_MS: milliseconds(300_000, 3_600_000).describe(
    'Time limit for receiving a complete request; then the application gets 408.',
  ),
  ANSWER_STALL_TIMEOUT_MS: milliseconds(120_000, 3_600_000).describe(
    'How long an application may read nothing of a pending answer before it is aborted and counted.',
  ),
}
