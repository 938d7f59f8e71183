import { gateSource as pattern } from '../gate/gated-pattern.ts'
import type { PhraseFamily } from '../phrases/suspect.ts'

/** Published tricks that no honest text has. */
export const knownTricks: readonly PhraseFamily[] = [
  {
    name: 'poses_as_maker',
    points: 4,
    patterns: [
      pattern(
        String.raw`\b(?:i am|i'm|this is|as)\W+(?:an?\W+|the\W+|your\W+)?(?:openai|anthropic|google|meta|mistral|microsoft|developer|engineer|admin\w*|creator)\b[^.\n]{0,140}\b(?:print|reveal|show|output|repeat|give me|dump|display)\b[^.\n]{0,40}\b(?:hidden|system|secret|initial|internal|original)\W+(?:prompt|instructions|message|configuration)`,
      ),
    ],
  },
  {
    name: 'bedtime_recipe',
    points: 4,
    patterns: [
      pattern(
        String.raw`\b(?:grandma|grandmother|granny|nana|grandpa|grandfather)\b[^\n]{0,120}\b(?:used to|would|always)\b[^\n]{0,120}\b(?:napalm|explosives?|bombs?|meth|methamphetamine|nerve gas|ricin|poison|malware|ransomware|(?:licen[cs]e|activation|product|windows) keys?)\b`,
      ),
    ],
  },
  {
    name: 'forged_policy',
    points: 4,
    patterns: [
      pattern(
        String.raw`<(?:blocked|allowed|forbidden)[-_](?:strings?|modes?|responses?|phrases?)\b|<interaction[-_]config\b`,
      ),
    ],
  },
]
