import { join } from 'node:path'
import type { Say } from '#infra/embedded/embedded-part.ts'
import type { Undo } from '../support/undo.ts'
import type { Engine } from './engine/engine.ts'
import type { Report } from './report.ts'

/** A check for machines that have more than Node, Java and Maven. */
export interface PlatformPart {
  about: string
  run(context: PlatformContext): Promise<void>
}

export interface PlatformContext {
  /** Outside the repository: downloads and builds stay there for the next run. */
  cache: string
  /** Jars of Kafka and the registry, as scripts/up caches them. */
  jars: string
  report: Report
  say: Say
  /** Cleanup of this part, run at its end, last first. */
  undo: Undo
  /** The engine of all parts, started on first use. Throws {@link CannotRun}. */
  engine: () => Promise<Engine>
}

/** The machine lacks something that could not be fetched. The part was not run, which fails the run. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun'
}

export const root = join(import.meta.dirname, '..', '..')

/** The answer's body. Rejects unless its status is 200 to 299. */
export async function textOf(url: string, init?: RequestInit): Promise<string> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${text.slice(0, 200)}`)
  return text
}
