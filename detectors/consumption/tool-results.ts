import { fieldAt, listOf, textOf } from '#capture/json.ts'

const maxUnits = 2_000

/** The results of tools in a request's conversation, in order, in any provider's format. */
export function toolResultsOf(request: unknown): string[] {
  return [
    ...listOf(fieldAt(request, 'messages')).flatMap(resultsOfMessage),
    ...listOf(fieldAt(request, 'input')).flatMap((item) =>
      /_output$/.test(textOf(fieldAt(item, 'type')) ?? '') ? [wordsOf(fieldAt(item, 'output'))] : [],
    ),
    ...listOf(fieldAt(request, 'contents')).flatMap((content) =>
      listOf(fieldAt(content, 'parts')).flatMap((part) => {
        const given = fieldAt(part, 'functionResponse') ?? fieldAt(part, 'function_response')
        return given === undefined ? [] : [wordsOf(fieldAt(given, 'response'))]
      }),
    ),
  ]
}

function resultsOfMessage(message: unknown): string[] {
  const content = fieldAt(message, 'content')
  const role = textOf(fieldAt(message, 'role'))
  if (role === 'tool' || role === 'function') return [wordsOf(content)]
  return listOf(content).flatMap((part) => {
    if (textOf(fieldAt(part, 'type')) === 'tool_result') return [wordsOf(fieldAt(part, 'content'))]
    const bedrock = fieldAt(part, 'toolResult', 'content')
    return bedrock === undefined ? [] : [wordsOf(bedrock)]
  })
}

/** Not JSON.stringify, which overflows on deep values: a list's texts, else nothing that is compared. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, maxUnits)
  if (Array.isArray(value)) {
    const texts = value
      .slice(0, 20)
      .map((part: unknown) => textOf(part) ?? textOf(fieldAt(part, 'text')) ?? '')
    return texts.join('\n').slice(0, maxUnits)
  }
  const only =
    textOf(fieldAt(value, 'result')) ?? textOf(fieldAt(value, 'output')) ?? textOf(fieldAt(value, 'error'))
  return only?.slice(0, maxUnits) ?? ''
}

const fruitless =
  /^[\s[\]{}()"']*$|^\s*(?:null|none|nil|undefined|false|0)\s*$|\b(?:no (?:\w+ )?(?:results?|match\w*|hits?|rows?|entries|data|documents?|files?|items?|records?)|not found|nothing found|0 (?:results?|rows?|matches|hits)|empty|error|failed|failure|timed? ?out|denied|forbidden|invalid|unauthori[sz]ed|exception|traceback|refused|unavailable|does not exist|no such)\b|"(?:results?|items|data|rows|hits|matches|documents)"\s*:\s*\[\s*\]/i

/** True if a result brings nothing: empty, or an error. */
export function isFruitless(result: string): boolean {
  return result.length < 600 && fruitless.test(result)
}
