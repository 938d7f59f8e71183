/** Where the application or the user goes on: "Question:", "Given the context …", "Answer the question …". */
const goesOn =
  /^[ \t>]{0,8}(?:#{1,6} |\*{1,2})?(?:(?:(?:user|user's|my|the|final|standalone|current|here is|here's|original) ){0,2}(?:question|query|request|task|instructions?|chat history|conversation|answer|helpful answer|response|your (?:answer|response|task)|rules|guidelines|output format|format|user input|input|human|assistant)\b[^\n:]{0,40}:|(?:given|using|based on|from) (?:only )?(?:this|the|these) (?:above |provided |retrieved )?(?:context|information|documents?|sources?|passages?)\b|(?:please )?answer (?:the|this|my) (?:following )?(?:question|query)\b)/gim
const heading = /^(#{1,6}) \S/gm

/**
 * The end of a passage that begins at `start`: what the application says next, or the end of the text. Under
 * a heading of level `level` also the next heading that is no deeper.
 */
export function endOfContext(text: string, start: number, level = 0): number {
  goesOn.lastIndex = start
  const end = goesOn.exec(text)?.index ?? text.length
  if (level === 0) return end
  heading.lastIndex = start
  for (let match = heading.exec(text); match !== null && match.index < end; match = heading.exec(text))
    if ((match[1] ?? '').length <= level) return match.index
  return end
}
