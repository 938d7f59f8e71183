import { RE2JS } from 're2js'
import { maxDefinitionBytes, type ProjectScorerDefinition } from '#schemas/project-scorer.ts'
import { invalidInput, type FieldError } from '#http/problem.ts'

/**
 * Instructions of all patterns of a scorer. RE2 takes at most so many steps a character, about 5 ns each, and
 * 240 bytes of memory for each: 60 MB for the fifty scorers of a project.
 */
const maxSteps = 5_000

/** Throws 422 for a definition that the scorer service would not run, naming the field. */
export function checkDefinition(definition: ProjectScorerDefinition): void {
  const errors: FieldError[] = []
  const bytes = Buffer.byteLength(JSON.stringify(definition))
  if (bytes > maxDefinitionBytes)
    errors.push({ path: 'definition', message: `has ${bytes} bytes as JSON; at most ${maxDefinitionBytes}` })
  else if (definition.kind === 'regex') errors.push(...faultsOfPatterns(definition.patterns))
  if (errors.length > 0) throw invalidInput(errors)
}

function faultsOfPatterns(patterns: readonly string[]): FieldError[] {
  const faults: FieldError[] = []
  let steps = 0
  for (const [index, source] of patterns.entries()) {
    try {
      const pattern = RE2JS.compile(source)
      steps += pattern.programSize()
      if (pattern.matcher('').matches())
        faults.push({
          path: `definition.patterns.${index}`,
          message: 'matches the empty text, so every call',
        })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      faults.push({ path: `definition.patterns.${index}`, message: error.message })
    }
  }
  if (faults.length === 0 && steps > maxSteps)
    faults.push({
      path: 'definition.patterns',
      message: `cost ${steps} steps a character together; at most ${maxSteps}. Repeat less, such as {1,20}`,
    })
  return faults
}
