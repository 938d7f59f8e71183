import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'

const root = join(import.meta.dirname, '..', '..')

/** Compares a page of docs/ with what generates it. `UPDATE_DOCS=1` writes it instead. */
export function expectPage(name: string, text: string): void {
  expectFile(join('docs', name), text)
}

/** The same for any file of the repository. */
export function expectFile(path: string, text: string): void {
  const file = join(root, path)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, text)
  expect(readFileSync(file, 'utf8')).toBe(text)
}

/** A Markdown table. */
export function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
