/** One call of a model, whatever its protocol. */
export interface Conversation {
  /** The first words of the first user message, by which the provider knows what to answer. */
  name: string
  system?: string
  turns: readonly Turn[]
  /** With the tool `look_up`. */
  hasTool?: true
  isStream?: true
  answer: GivenAnswer
}

export type Turn =
  | { by: 'user'; text: string; image?: string }
  | { by: 'model'; text?: string; callsTool?: true }
  | { by: 'tool' }

export interface GivenAnswer {
  text?: string
  /** A second choice, where the protocol has choices. */
  other?: string
  thought?: string
  callsTool?: true
  tokens?: { prompt: number; cached: number; completion: number; reasoning: number }
  status?: number
}

export const tool = {
  name: 'look_up',
  description: 'Looks up a word.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
}
export const toolCall = { id: 'call_1', name: tool.name, arguments: { word: 'sluice' } }
export const toolResult = 'A sluice is a gate.'
/** One pixel. */
export const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const problem = 'The provider says no.'
/** None is cached, and there are no thoughts. */
export const usualTokens = { prompt: 30, cached: 0, completion: 12, reasoning: 0 }

const asked = (name: string, text = 'What is a sluice?'): Turn => ({ by: 'user', text: `${name}: ${text}` })
const said = 'A gate for water.'
const called: readonly Turn[] = [{ by: 'model', callsTool: true }, { by: 'tool' }]

/** Five turns of 4 kB each. */
const history: readonly Turn[] = [1, 2, 3].flatMap((turn) => [
  { by: 'user', text: `Turn ${turn}. ${'Water rises behind the gate. '.repeat(140)}` } as const,
  { by: 'model', text: `Answer ${turn}. ${'The gate holds it back. '.repeat(160)}` } as const,
])

/** The same for every door. */
export const conversations: readonly Conversation[] = [
  { name: 'plain', turns: [asked('plain')], answer: { text: said } },
  { name: 'system', system: 'Be brief.', turns: [asked('system')], answer: { text: said } },
  { name: 'tool call', hasTool: true, turns: [asked('tool call')], answer: { callsTool: true } },
  { name: 'tool result', hasTool: true, turns: [asked('tool result'), ...called], answer: { text: said } },
  { name: 'stream', isStream: true, turns: [asked('stream')], answer: { text: said } },
  {
    name: 'streamed tool call',
    isStream: true,
    hasTool: true,
    turns: [asked('streamed tool call')],
    answer: { callsTool: true },
  },
  {
    name: 'image',
    turns: [{ by: 'user', text: 'image: What is this?', image }],
    answer: { text: said },
  },
  { name: 'refused', turns: [asked('refused')], answer: { status: 400 } },
  { name: 'failed', turns: [asked('failed')], answer: { status: 500 } },
  {
    name: 'cache',
    turns: [asked('cache')],
    answer: { text: said, tokens: { ...usualTokens, cached: 20 } },
  },
  {
    name: 'reasoning',
    turns: [asked('reasoning')],
    answer: { text: said, thought: 'It holds water.', tokens: { ...usualTokens, reasoning: 5 } },
  },
  {
    name: 'long, two answers',
    turns: [asked('long, two answers'), { by: 'model', text: said }, ...history, asked('again')],
    answer: { text: said, other: 'A door in a dam.' },
  },
]
