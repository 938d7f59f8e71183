import { readFileSync } from 'node:fs'
import { messageOf } from '#runtime/errors.ts'
import type { Environment } from '#runtime/config.ts'
import type { FieldError } from '#http/problem.ts'

const reference = /^\$\{(?:file:(?<path>[^{}]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*))\}$/

/**
 * The same value with what its `${NAME}` and `${file:PATH}` stand for: a variable of this process, or the
 * text of a file without the line break at its end. Only a whole text is a reference. `faults` gets those
 * that stand for nothing.
 */
export function resolveReferences(value: unknown, environment: Environment, faults: FieldError[]): unknown {
  const resolve = (part: unknown, path: readonly (string | number)[]): unknown => {
    if (Array.isArray(part)) return part.map((item, index) => resolve(item, [...path, index]))
    if (typeof part === 'object' && part !== null)
      return Object.fromEntries(
        Object.entries(part).map(([key, item]) => [key, resolve(item, [...path, key])]),
      )
    const { path: file, name } = (typeof part === 'string' && reference.exec(part)?.groups) || {}
    const fault = (message: string): unknown => {
      faults.push({ path: path.join('.'), message })
      return undefined
    }
    if (name !== undefined) return environment[name] ?? fault(`names the variable ${name}, which is not set`)
    if (file === undefined) return part
    try {
      return readFileSync(file, 'utf8').replace(/[\r\n]+$/, '')
    } catch (error) {
      return fault(`names the file ${file}, which cannot be read (${messageOf(error)})`)
    }
  }
  return resolve(value, [])
}
