import { createOwnerCounts } from '#runtime/owner-counts.ts'
import type { Principal } from './access/principal.ts'

/** What one request holds. */
export interface OwnBytes {
  /** Whether so many more bytes fit; if so they are taken. */
  take(byteLength: number): boolean
  /** Whether so many more bytes would fit if no other owner held any. */
  fitsAlone(byteLength: number): boolean
  /** Releases all of them. */
  release(): void
}

/** Bytes of memory that requests under way share. */
export interface SharedBytes {
  enter(principal: Principal): OwnBytes
}

export function createSharedBytes(maxBytes: number, onUsed: (bytes: number) => void): SharedBytes {
  const used = createOwnerCounts()
  const add = (who: string, byteLength: number) => {
    if (byteLength === 0) return
    used.add(who, byteLength)
    onUsed(used.total)
  }
  return {
    enter(principal) {
      const who = ownerOf(principal)
      let taken = 0
      return {
        take(byteLength) {
          const own = used.of(who) + byteLength
          const left = maxBytes - used.total - byteLength
          if (left < 0 || own > maxOwn(principal, maxBytes, left)) return false
          taken += byteLength
          add(who, byteLength)
          return true
        },
        fitsAlone(byteLength) {
          const own = taken + byteLength
          return own <= maxOwn(principal, maxBytes, maxBytes - own)
        },
        release() {
          add(who, -taken)
          taken = 0
        },
      }
    },
  }
}

function ownerOf(principal: Principal): string {
  if (principal.kind === 'key') return principal.key.project.projectId
  return principal.kind === 'person' ? principal.person.personId : principal.kind
}

/**
 * One owner may take as much as it leaves free: alone half, two owners three quarters. Callers without a key
 * count as one owner with a sixteenth. The operator's gateways send for all projects and have no limit of
 * their own.
 */
function maxOwn({ kind }: Principal, maxBytes: number, left: number): number {
  if (kind === 'operator') return maxBytes
  return kind === 'anonymous' ? maxBytes / 16 : left
}
