import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'

/** Stands where a person has to write something; a unit test fails while any is left. */
export const marker = ['FILL', 'IN'].join(' ')

/** A file to write, or text to put before the first line that starts so; before '': at the end. */
export type Change =
  | { file: string; text: string }
  | { file: string; before: string; insert: string }
  | { file: string; replace: RegExp; by: string }

export interface Changes {
  changes: readonly Change[]
  /** What is left to do, for the terminal. */
  next: string
}

/** Makes all changes or none; returns the files. Throws CannotStart on an existing file or missing line. */
export function applyChanges(root: string, changes: readonly Change[]): string[] {
  const texts = new Map<string, string>()
  for (const change of changes) {
    const path = join(root, change.file)
    if ('text' in change) {
      if (existsSync(path)) throw new CannotStart(`${change.file} is there already`)
      texts.set(change.file, change.text)
    } else {
      const text = texts.get(change.file) ?? readFileSync(path, 'utf8')
      texts.set(change.file, changed(text, change))
    }
  }
  for (const [file, text] of texts) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return [...texts.keys()]
}

function changed(text: string, change: Exclude<Change, { text: string }>): string {
  if ('replace' in change) {
    if (!change.replace.test(text)) throw new CannotStart(`${change.file} has nothing like ${change.replace}`)
    return text.replace(change.replace, change.by)
  }
  if (change.before === '') return text + change.insert
  const at = text.startsWith(change.before) ? 0 : text.indexOf(`\n${change.before}`) + 1
  if (at === 0 && !text.startsWith(change.before))
    throw new CannotStart(`${change.file} has no line that starts with "${change.before.trim()}"`)
  return text.slice(0, at) + change.insert + text.slice(at)
}
