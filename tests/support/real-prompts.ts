import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const datasets = join(import.meta.dirname, '..', '..', 'evals', 'datasets')

/** `count` real prompts, in turn from every data set that has some. */
export function realPrompts(count: number): string[] {
  const sets = readdirSync(datasets)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => promptsOf(join(datasets, name)))
    .filter((prompts) => prompts.length > 0)
  const longest = Math.max(...sets.map((prompts) => prompts.length))
  const picked: string[] = []
  for (let row = 0; row < longest; row++)
    for (const prompts of sets) {
      const prompt = prompts[row]
      if (prompt !== undefined) picked.push(prompt)
      if (picked.length === count) return picked
    }
  throw new Error(`the data sets have only ${picked.length} prompts`)
}

/** Harmless everyday prompts; every hundredth is one of all kinds. */
export function ordinaryPrompts(count: number): string[] {
  const honest = ['honest-personas', 'notinject'].flatMap((name) =>
    promptsOf(join(datasets, `jailbreak_detection.${name}.jsonl`)),
  )
  const others = realPrompts(Math.ceil(count / 100))
  return Array.from({ length: count }, (_, index) =>
    String(index % 100 === 99 ? others[(index - 99) / 100] : honest[index % honest.length]),
  )
}

/** An answer of 1 kB that passes every scorer. */
export function ordinaryAnswer(): string {
  const [line = ''] = readFileSync(join(datasets, 'content_safety.xstest-answers.jsonl'), 'utf8').split('\n')
  const { response } = JSON.parse(line) as { response: string }
  return response
}

function promptsOf(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { prompt: string }).prompt)
    .filter((prompt) => prompt !== '')
}
