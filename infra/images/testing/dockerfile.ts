import { globSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

export interface Stage {
  name: string
  /** In file order. Paths are relative to the repository: every stage keeps them under its WORKDIR. */
  steps: readonly Step[]
}

export type Step = { copy: readonly string[]; from: string | undefined } | { run: string }

/** The stages of a Dockerfile. Throws if a COPY changes paths. */
export function parseDockerfile(text: string): Stage[] {
  const stages: { name: string; steps: Step[] }[] = []
  for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    const [instruction = '', ...words] = line.trim().split(/\s+/)
    if (instruction === 'FROM') stages.push({ name: words[2] ?? 'final', steps: [] })
    if (instruction === 'RUN') stages.at(-1)?.steps.push({ run: words.join(' ') })
    if (instruction === 'COPY') stages.at(-1)?.steps.push(copyStep(words))
  }
  return stages
}

function copyStep(words: readonly string[]): Step {
  const from = words[0]?.startsWith('--from=') ? words[0].slice('--from='.length) : undefined
  const paths = words.filter((word) => !word.startsWith('--'))
  const target = paths.at(-1) ?? ''
  if (from !== undefined) return { copy: [target], from }
  const sources = paths.slice(0, -1)
  for (const source of sources) {
    const isKept = target.endsWith('/')
      ? join(target, source.split('/').at(-1) ?? '') === join(source)
      : target === source
    if (!isKept) throw new Error(`COPY ${words.join(' ')}: ${source} does not stay at its path`)
  }
  return { copy: sources, from }
}

/** Files of the repository that these COPY steps copy, without those that .dockerignore excludes. */
export function copiedFiles(root: string, steps: readonly Step[], ignored: readonly string[]): Set<string> {
  const files = new Set<string>()
  const isIgnored = (file: string) =>
    ignored.some((pattern) => matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`))
  for (const step of steps) {
    if (!('copy' in step) || step.from !== undefined) continue
    for (const source of step.copy)
      for (const file of globSync([source, `${source}/**`], { cwd: root }))
        if (!isIgnored(file)) files.add(file)
  }
  return files
}
