import { wordStems } from './word-stems.ts'
import { splitSegments, type Segment } from './split-segments.ts'

/** How a task or question to an assistant begins. Statements and titles seldom do. */
const task =
  /^(?:please |kindly )?(?:(?:what(?:'s| is| are| was| were| does| do| \w+ (?:is|are|was|were|do|does|can))|who(?: is| was|se)?|which|why|how (?:do|does|did|can|could|has|have|is|are|many|much|to)|when (?:is|was|did)|where (?:is|are|can)|can you|could you)\b|(?:write|draft|compose|create|generate|provide|explain|describe|translate|convert|calculate|compute|determine|classify|summari[sz]e|list|suggest|recommend|analy[sz]e|compare|define|solve|find|outline|discuss|evaluate|help me|show me|tell me|give me|teach me|identify|name|rewrite|rephrase|paraphrase|correct|interpret|share|offer|design|plan|brainstorm|state|predict|estimate|illustrate|elaborate|simplify|recite|spell|count)\s(?:an?|the|me|some|this|how|what|who|why|in|on|to|for|out|about|up|with|your|\d+|two|three|four|five|ten|["'“]|\w+ing\b|\w+ly\b|\w+s\b|\w+ \w+s\b))/i
/** Of the people in a mail or a log, and of the things before them. */
const personal =
  /\b(?:(?<!\b(?:can|do|should|could|would) )i|i'm|we|us|our|ours|attached|above|below|tomorrow|today|asap|let me know|questions?|support|contact|click|here|this (?:email|message|project|file|repo\w*|page|section|guide|document))\b/i
/** Less before it has no subject that a task could be off. */
const [minUnits, maxUnits] = [100, 20_000]
const minWords = 4
/** Share of a task's words that may stand before it: a mail about money has the words of many a question. */
const maxSaid = 0.2
/** A text with more of them asks and answers: an FAQ, a quiz, a chat. */
const maxTasks = 1

/**
 * A task or question alone on the last line of a text that has hardly a word in common with it. Assistants
 * carry it out; mails, tables and records have no use for it. Found where a document ends, as whatever is
 * appended to it stands there.
 */
export function findOddTask(text: string): Segment | null {
  if (text.length > maxUnits) return null
  const end = text.trimEnd().length
  const begin = text.lastIndexOf('\n', end - 1) + 1
  const line = text.slice(begin, end).trim()
  if (begin < minUnits || line.length > 300 || !task.test(line) || personal.test(unquoted(line))) return null
  const segments = Array.from(splitSegments(text))
  if (segments.filter(({ text: said }) => task.test(said)).length > maxTasks) return null
  const words = wordStems(line)
  if (line.split(/\s+/).length < minWords || words.size < 2) return null
  const before = wordStems(text.slice(0, begin))
  const said = [...words].filter((word) => before.has(word)).length
  if (said > words.size * maxSaid) return null
  const start = text.indexOf(line, begin)
  return { text: line, start, end: start + line.length }
}

/** What a task quotes to work on may be anybody's. */
function unquoted(line: string): string {
  return line.replace(/["'“][^"”]{8,}["'”]/g, ' ')
}
