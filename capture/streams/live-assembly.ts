import { fieldAt, listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { createCandidateAssembly } from './candidate-assembly.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** Whether a message is one of Gemini Live. */
export function isLiveMessage(chunk: JsonObject): boolean {
  return objectOf(chunk['serverContent']) !== undefined || objectOf(chunk['toolCall']) !== undefined
}

/**
 * A turn of Gemini Live, in the form of generateContent: parts of the model's turn, transcribed speech as
 * text, and calls of tools.
 */
export function createLiveAssembly(): StreamAssembly {
  const assembly = createCandidateAssembly()
  let isComplete = false
  const say = (parts: readonly unknown[], fields: JsonObject = {}) =>
    assembly.add({ candidates: [{ content: { role: 'model', parts }, ...fields }] })

  return {
    ...assembly,
    add({ serverContent, toolCall, usageMetadata }) {
      const content = objectOf(serverContent) ?? {}
      const words = textOf(fieldAt(content, 'outputTranscription', 'text'))
      say([
        ...listOf(fieldAt(content, 'modelTurn', 'parts')),
        ...(words === undefined ? [] : [{ text: words }]),
        ...listOf(fieldAt(toolCall, 'functionCalls')).map((functionCall) => ({ functionCall })),
      ])
      const grounding = objectOf(content['groundingMetadata'])
      if (grounding !== undefined) say([], { groundingMetadata: grounding })
      if (content['interrupted'] === true) say([], { finishReason: 'INTERRUPTED' })
      else if (content['turnComplete'] === true && !isInterrupted(assembly.body()))
        say([], { finishReason: 'STOP' })
      isComplete ||= content['turnComplete'] === true
      if (usageMetadata !== undefined) assembly.add({ usageMetadata })
    },
    ended: () => isComplete,
  }
}

function isInterrupted(body: JsonObject): boolean {
  return fieldAt(listOf(body['candidates'])[0], 'finishReason') === 'INTERRUPTED'
}
