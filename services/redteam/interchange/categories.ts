import { builtInScorers, owaspCategoryOf, type BuiltInScorer, type OwaspCategory } from '#schemas/verdicts.ts'

/**
 * The first scorer of a category, and the scorers that judge its answers: only the answer of another tool's
 * attempt says whether it worked. Throws for a category without a scorer.
 */
export function judgesOf(
  category: OwaspCategory,
  categoryOf: Readonly<Record<BuiltInScorer, OwaspCategory>> = owaspCategoryOf,
): { scorer: BuiltInScorer; judged_by: BuiltInScorer[] } {
  const scorers = builtInScorers.filter((scorer) => categoryOf[scorer] === category)
  const [scorer] = scorers
  if (scorer === undefined) throw new Error(`no scorer reports ${category}`)
  // Scorers of these categories read the input; the answer to it is judged as content.
  const isOfInput = category === 'LLM01' || category === 'LLM04' || category === 'LLM08'
  return { scorer, judged_by: isOfInput ? ['content_safety'] : scorers }
}

/** garak's modules by the tags of most of their probes, in the list of 2025. Its reports name no tags. */
const garakModules: Readonly<Record<string, OwaspCategory>> = {
  ...{ dan: 'LLM01', promptinject: 'LLM01', encoding: 'LLM01', latentinjection: 'LLM01', goodside: 'LLM01' },
  ...{ suffix: 'LLM01', tap: 'LLM01', phrasing: 'LLM01', dra: 'LLM01', fitd: 'LLM01', smuggling: 'LLM01' },
  ...{ leakreplay: 'LLM02', propile: 'LLM02', apikey: 'LLM02', divergence: 'LLM02' },
  ...{
    xss: 'LLM05',
    ansiescape: 'LLM05',
    exploitation: 'LLM05',
    web_injection: 'LLM05',
    malwaregen: 'LLM05',
  },
  ...{ packagehallucination: 'LLM03', fileformats: 'LLM03', snowball: 'LLM09', misleading: 'LLM09' },
  sysprompt_extraction: 'LLM07',
} as const

export function categoryOfGarak(classname: string): OwaspCategory {
  return garakModules[classname.split('.')[0] ?? ''] ?? 'LLM05'
}

const promptfooPlugins: readonly (readonly [RegExp, OwaspCategory])[] = [
  [/^pii|privacy|cross-session-leak/, 'LLM02'],
  [/^prompt-extraction|system-prompt/, 'LLM07'],
  [/^rag-poisoning/, 'LLM04'],
  [/^indirect-prompt-injection|^rag-/, 'LLM08'],
  [
    /^(?:excessive-agency|rbac|bola|bfla|ssrf|shell-injection|sql-injection|debug-access|tool-discovery)/,
    'LLM06',
  ],
  [/^(?:hallucination|overreliance|contracts|imitation)/, 'LLM09'],
  [/^(?:divergent-repetition|reasoning-dos)/, 'LLM10'],
  [/^(?:hijacking|prompt-injection|ascii-smuggling|jailbreak)/, 'LLM01'],
]

export function categoryOfPromptfoo(plugin: string): OwaspCategory {
  return promptfooPlugins.find(([pattern]) => pattern.test(plugin))?.[1] ?? 'LLM05'
}
