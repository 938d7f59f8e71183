import { isToolCallRecord } from '#capture/tool-calls.ts'
import type { TakeTurn } from '#runtime/take-turns.ts'
import type { MatchTarget } from '#schemas/project-scorer.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import { owaspCategoryOf, type BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns, type BuiltIn } from '#detectors/built-in-scorers.ts'
import {
  isMediaOnly,
  isPartWhole,
  piecesOf,
  type BodyPart,
  type Call,
  type CallText,
} from '#detectors/call-text.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { namesOfCriterion } from '../scoring/judge/criterion.ts'
import { startCustomRun } from '../scoring/custom/run-custom-scorer.ts'
import { searchablesOf, type Searchable } from '../scoring/custom/searchable.ts'
import {
  detected,
  unscored,
  type Finding,
  type Undecided,
  type Verdict,
  type NamedVerdict,
} from '#detectors/verdict.ts'
import type { ChosenScorers } from './choose-scorers.ts'

/** Called with each verdict as soon as it is known, its duration, and the error of a failed detector. */
export type OnVerdict = (found: NamedVerdict, seconds: number, defect?: Error) => void

/** Caches of a text take up to 400 bytes per character, so detectors of longer calls do not share them. */
const maxSharedUnits = 256 * 1024

/** Runs the chosen detectors and custom scorers in turn. `takeTurn`, called every few ms, may throw. */
export async function runDetectors(
  { builtIn, custom, failAt }: ChosenScorers,
  call: Call,
  takeTurn: TakeTurn,
  onVerdict: OnVerdict,
): Promise<void> {
  const units = call.texts.reduce((sum, { text }) => sum + text.length, 0)
  // Shared texts, so that detectors share their caches.
  const shared = units > maxSharedUnits ? undefined : Array.from(freshPieces(call))
  for (const name of builtIn) {
    const scorer = builtIns[name]
    const detect = async () => {
      const found = await runDetector(scorer, call, shared ?? freshPieces(call), takeTurn)
      return whereKept(detected(found, failAt?.[name]), 'detector', scorer.reads, call)
    }
    await reportVerdict(namesOfBuiltIn(name), 'detector', detect, onVerdict)
  }
  const textsFor = searchablesOf(call)
  for (const scorer of custom) {
    const detect = () => runCustom(scorer, call, textsFor(scorer.matchOn), takeTurn)
    await reportVerdict(namesOf(scorer), 'custom', detect, onVerdict)
  }
}

/**
 * Reports a verdict. A throwing detector is a bug that some text triggers, perhaps on purpose. It costs the
 * call this one verdict; rethrowing would crash the process and all its calls on each attempt.
 */
async function reportVerdict(
  as: Omit<NamedVerdict, 'verdict'>,
  method: 'detector' | 'custom',
  detect: () => Promise<Verdict>,
  onVerdict: OnVerdict,
): Promise<void> {
  const startedMs = performance.now()
  let verdict = unscored(method, 'detector_failed')
  let defect: Error | undefined
  try {
    verdict = await detect()
  } catch (error) {
    if (!isDefect(error)) throw error
    defect = error
  }
  onVerdict({ ...as, verdict }, (performance.now() - startedMs) / 1_000, defect)
}

/** Errors from values of unexpected type or size. */
export function isDefect(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError
}

/** The same unscored verdict for every scorer, when none could look at the call. */
export function leaveUnscored(
  { builtIn, custom, criteria = [] }: ChosenScorers,
  reason: UnscoredReason,
): NamedVerdict[] {
  return [
    ...builtIn.map((name) => ({ ...namesOfBuiltIn(name), verdict: unscored('detector', reason) })),
    ...custom.map((scorer) => ({ ...namesOf(scorer), verdict: unscored('custom', reason) })),
    ...criteria.map((criterion) => ({ ...namesOfCriterion(criterion), verdict: unscored('judge', reason) })),
  ]
}

/** Fresh objects, so that per-text caches are freed with them. */
function* freshPieces({ texts }: Call): Generator<CallText> {
  for (const text of texts) for (const piece of piecesOf(text)) yield { ...piece }
}

async function runDetector(
  { create }: BuiltIn,
  call: Call,
  pieces: Iterable<CallText>,
  takeTurn: TakeTurn,
): Promise<Finding | Undecided> {
  const detector = create(call)
  await readInTurns(detector, pieces, takeTurn)
  return detector.finding()
}

async function runCustom(
  scorer: CustomScorer,
  call: Call,
  texts: readonly Searchable[],
  takeTurn: TakeTurn,
): Promise<Verdict> {
  const run = startCustomRun(scorer)
  await readInTurns(run, texts, takeTurn)
  return whereKept(run.verdict(), 'custom', partsFor(scorer.matchOn, call), call)
}

async function readInTurns<Text>(
  reader: { read(text: Text): void },
  texts: Iterable<Text>,
  takeTurn: TakeTurn,
): Promise<void> {
  for (const text of texts) {
    reader.read(text)
    await takeTurn()
  }
}

/** What was found in part of a body stands; what was not found may be in the rest. */
function whereKept(
  verdict: Verdict,
  method: 'detector' | 'custom',
  reads: readonly BodyPart[],
  call: Call,
): Verdict {
  const isWhole = reads.every((part) => isPartWhole(call, part))
  if (isWhole || verdict.label === 'unsafe') return verdict
  return unscored(method, reads.some((part) => isMediaOnly(call, part)) ? 'not_decodable' : 'not_kept_whole')
}

/** The bodies that a match target reads. A truncated request may have been a tool call. */
function partsFor(target: MatchTarget, { request }: Call): readonly BodyPart[] {
  if (target === 'request_body' || target === 'response_body') return [target]
  const isTool = target === 'tool_arguments' && isToolCallRecord(request?.value)
  return isTool ? ['request_body'] : ['request_body', 'response_body']
}

function namesOfBuiltIn(name: BuiltInScorer): Omit<NamedVerdict, 'verdict'> {
  return { scorer: name, version: builtIns[name].version, owaspCategory: owaspCategoryOf[name] }
}

function namesOf(scorer: CustomScorer): Omit<NamedVerdict, 'verdict'> {
  const { name, version, owaspCategory, isOfProject } = scorer
  return { scorer: name, version, owaspCategory, ...(isOfProject && { isOfProject }) }
}
