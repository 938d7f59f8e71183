import type { Mutation } from './mutation.ts'

/** Mistakes in what findings do (findings/play-findings.ts). */
export const findingMutations: Readonly<Record<string, Mutation>> = {
  'findings-stay-resolved': {
    file: 'schemas/finding.ts',
    find: "return state === 'resolved' || (state",
    replace: 'return (state',
  },
  'findings-stay-muted-for-ever': {
    file: 'schemas/finding.ts',
    find: '(muted_until?.getTime() ?? 0) <= nowMs',
    replace: 'nowMs < 0',
  },
  'findings-may-go-from-closed-to-anything': {
    file: 'schemas/finding.ts',
    find: "resolved: ['open', 'false_alarm'],",
    replace: "resolved: ['open', 'false_alarm', 'acknowledged'],",
  },
  'findings-tell-a-second-closing': {
    file: 'schemas/finding.ts',
    find: "return isClosed(from) ? null : 'finding_resolved'",
    replace: "return 'finding_resolved'",
  },
  'findings-count-replays': {
    file: 'services/sink/steps/group-findings.ts',
    find: 'if (call.run_id !== liveRunId(call.project_id)) continue',
    replace: '',
  },
  'findings-count-what-is-suppressed': {
    file: 'services/sink/steps/find-finding.ts',
    find: "if (suppressions.length > 0 || call.source === 'redteam') return undefined",
    replace: "if (call.source === 'redteam') return undefined",
  },
  'findings-have-the-severity-of-the-last-score': {
    file: 'services/sink/steps/group-findings.ts',
    find: 'group.severity = worseOf(group.severity, score.severity)',
    replace: 'group.severity = score.severity',
  },
  'findings-are-not-limited': {
    file: 'services/sink/stores/finding-store.ts',
    find: 'if (!isLive({ placed }) || !without.has(',
    replace: 'if (!isLive({ placed }) || !new Set<string>().has(',
  },
  'findings-move-replays-to-others': {
    file: 'services/sink/stores/finding-store.ts',
    find: 'if (!isLive({ placed }) || !without.has(',
    replace: 'if (!without.has(',
  },
  'findings-say-every-score-was-the-first': {
    file: 'services/sink/stores/finding-store.ts',
    find: 'const isFirst = firsts.get(placed)?.previousState === null',
    replace: 'const isFirst = stand.previousState === null',
  },
  'findings-reopen-in-the-old-revision': {
    file: 'services/sink/stores/finding-states.ts',
    find: 'reopened.map(({ before }) => before.revision + 1),',
    replace: 'reopened.map(({ before }) => before.revision),',
  },
  'findings-raise-no-severity-of-one-that-reopens': {
    file: 'services/sink/stores/finding-states.ts',
    find: 'if (severity !== before.severity) worse.push(group)',
    replace: 'if (severity !== before.severity && !opensAgain(before, nowMs)) worse.push(group)',
  },
  'findings-are-undone-after-a-later-change': {
    file: 'services/api/stores/change-findings.ts',
    find: "undone.revision === row.revision ? undefined : 'changed_since'",
    replace: 'undone.revision <= row.revision ? undefined : ("changed_since" as const)',
  },
  'findings-get-back-an-owner-who-is-gone': {
    file: 'services/api/stores/change-findings.ts',
    find: 'if (login !== undefined) return',
    replace: 'if (before.owner_id !== null) return',
  },
  'findings-are-changed-against-the-rules-in-bulk': {
    file: 'services/api/stores/change-findings.ts',
    find: "mayChange(row.state, after.state) ? undefined : 'state'",
    replace: "rows.some((one) => mayChange(one.state, after.state)) ? undefined : 'state'",
  },
  'promotion-does-not-take-out': {
    file: 'services/sink/stores/finding-promotion.ts',
    find: 'await addToCounters(client, taken, changesLane, -1)',
    replace: 'await addToCounters(client, taken, changesLane, 1)',
  },
  'promotion-counts-what-it-replaces': {
    file: 'services/sink/stores/finding-promotion.ts',
    find: 'const side = score.is_live ? groups.live : groups.before',
    replace: 'const side = score.is_live ? groups.before : groups.live',
  },
  'promotion-keeps-values-of-what-it-replaces': {
    file: 'services/sink/stores/finding-promotion.ts',
    find: '(is_live ? [] : [request_id])',
    replace: '(is_live ? [request_id] : [])',
  },
  'promotion-leaves-severities': {
    file: 'services/sink/stores/finding-promotion.ts',
    find: 'await raiseSeverities(client, groups)\n',
    replace: '\n',
  },
  'erasure-keeps-values': {
    file: 'services/sink/stores/erase-findings.ts',
    find: 'rows.map(({ request_id }) => request_id),',
    replace: '[],',
  },
}
