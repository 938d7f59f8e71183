import type { Destructive } from './destructions.ts'
import { autostartFile, secretFile } from './overreach.ts'

const pathLabel =
  /^(?:path|paths|file|files|file_?path|file_?name|target_?file|absolute_?path|uri|destination|dest|target)$/i
const writes =
  /(?<![a-z])(?:write|edit|create|append|save|put|insert|replace|patch|update|move|copy)(?![a-z])/
const reads = /(?<![a-z])(?:read|cat|open|view|get|load|fetch|show|download)(?![a-z])/
const autostart = new RegExp(`^\\s{0,4}(?:file://)?[\\w./~$-]{0,80}(?:${autostartFile})$`, 'i')
const secret = new RegExp(`^\\s{0,4}(?:file://)?(?:~|/)[\\w./~ -]{0,120}${secretFile}`, 'i')

/** A file tool that writes where programs start by themselves, or reads a secret, by the path it is given. */
export function findInPath(text: string, label: string, tool: string): Destructive[] {
  if (text.length > 300 || !pathLabel.test(label)) return []
  const name = tool.replace(/([a-z])(?=[A-Z])/g, '$1_').toLowerCase()
  const place = { start: 0, end: text.length, value: 4 }
  if (writes.test(name)) return autostart.test(text) ? [{ kind: 'persists', ...place }] : []
  return reads.test(name) && secret.test(text) ? [{ kind: 'reads_secrets', ...place }] : []
}
