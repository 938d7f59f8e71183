import { builtInScorers, type BuiltInScorer } from './verdicts.ts'

/**
 * Scorers whose detectors find threats and never say `safe`: without a judge, the rest of their calls is
 * undecided (docs/decisions/0022).
 */
export const neverSafeByDetectors: readonly BuiltInScorer[] = [
  'content_safety',
  'hallucination',
  'data_poisoning',
  'vector_weakness',
]

/** Scorers whose detectors say `safe` too, where they cover the text. */
export const safeByDetectors: readonly BuiltInScorer[] = builtInScorers.filter(
  (scorer) => !neverSafeByDetectors.includes(scorer),
)

/** How an operator configures a judge. */
export const judgeRemedy =
  'set OPENAI_API_KEY, or OPENAI_BASE_URL of any server that speaks chat completions, for the scorer'

/** A scorer notes every minute whether it has a judge. An older note is of one that no longer runs. */
export const judgeSeenSql = `select bool_or(is_configured) as configured from judge_status
  where seen_at > now() - interval '5 minutes'`
