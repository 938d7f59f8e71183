import { gateSource as pattern } from '../gate/gated-pattern.ts'
import { phraseFamilies } from '../jailbreak/phrase-families.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'
import { concealment } from './concealment.ts'

const secrets = String.raw`(?:~/\.\w+|\.ssh\b|id_(?:rsa|ed25519|ecdsa)|\.env\b|\.aws\b|\.netrc\b|\.kube\b|/etc/(?:passwd|shadow)|mcp\.json|\w*credentials?(?:\.\w+)?\b|private keys?|api keys?|access tokens?|environment variables|system prompt|(?:conversation|chat) history|(?:whole|entire|full|previous) conversation|browser cookies)`
const hands = String.raw`(?:pass|send|include|put|provide|add|attach|supply|forward|upload|submit|use|append|encode)`

/**
 * Ways in which the definition of a tool gives orders beyond its use. Definitions speak to the model, which
 * is what they are for: "use this tool when …" is none of these.
 */
export const offerFamilies: readonly PhraseFamily[] = [
  ...phraseFamilies.filter(({ name }) =>
    ['override_instructions', 'override_in_another_language', 'ignore_instructions'].includes(name),
  ),
  { name: 'conceals', points: 4, patterns: concealment },
  {
    name: 'fetches_secrets',
    points: 4,
    patterns: [
      pattern(
        `\\b(?:read|open|load|get|fetch|cat|collect|copy|extract|look up)\\b[^.\\n]{0,60}${secrets}[^\\n]{0,120}\\b${hands}\\b[^\\n]{0,80}\\b(?:as|in|to|into|with)\\b`,
      ),
      pattern(
        `\\b${hands}\\b[^.\\n]{0,60}(?:content|contents|value|values|text|copy) of\\b[^.\\n]{0,40}${secrets}[^\\n]{0,80}\\b(?:as|in|to|into|with)\\b`,
      ),
    ],
  },
  {
    name: 'bends_other_tools',
    points: 4,
    patterns: [
      pattern(
        String.raw`\b(?:all|every|any|each)\W+(?:\w+\W+){0,3}?(?:e-?mails?|mails?|messages?|payments?|transfers?|files?|requests?|queries|calls?)\W+(?:\w+\W+){0,2}?(?:must|should|have to|has to|need to|needs to|are to|is to)\W+(?:\w+\W+){0,3}?(?:sent|forwarded|routed|copied|redirected|transferred|paid|go|made|uploaded)\b[^.\n]{0,60}(?:@|https?:|\binstead\b|\baccount\b)`,
      ),
      pattern(
        String.raw`\b(?:when|whenever|if|before|after)\W+(?:the\W+)?[\w.-]{2,40}\W+(?:tool\W+)?(?:is|are|was|were)\W+(?:available|used|called|present|invoked|offered)\b[^.\n]{0,160}\b(?:instead of|rather than|in place of|bcc|without (?:telling|asking))\b`,
      ),
    ],
  },
  {
    name: 'precedes_its_use',
    points: 2,
    patterns: [
      pattern(String.raw`<\/?(?:important|system|secret|hidden|critical|instructions?)>`),
      pattern(
        String.raw`\bbefore\W+(?:using|calling|invoking|running)\W+(?:this|any|the|another|other)\W+(?:\w+\W+)?tools?\b[^.\n]{0,80}\b(?:read|open|send|load|copy|collect)\b`,
      ),
      pattern(
        String.raw`\botherwise\W+(?:it|this|the tool|nothing)\W+(?:will|does|would)\W?(?:not|n't)\W+work\b`,
      ),
    ],
  },
]
