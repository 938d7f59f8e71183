import type { Dashboard } from '../build-dashboard.ts'
import { inAnHour, largest, p99, perSecond, quantiles, share, total } from '../queries.ts'

/** Findings by scorer, and the cost. */
export const scoring: Dashboard = {
  name: 'scoring',
  title: 'scoring and its cost',
  rows: [
    {
      title: 'Scores',
      panels: [
        { title: 'By scorer', unit: 'ops', ask: [perSecond('sluice_scores_total', 'scorer')] },
        {
          title: 'Unsafe, by scorer',
          unit: 'ops',
          ask: [perSecond('sluice_scores_total{label="unsafe"}', 'scorer')],
        },
        { title: 'By method', unit: 'ops', ask: [perSecond('sluice_scores_total', 'method')] },
        {
          title: 'Unscored, by reason',
          help: 'budget_spent and judge_* have alerts; docs/runbooks says what to do.',
          unit: 'ops',
          ask: [perSecond('sluice_scores_unscored_total', 'reason')],
        },
        {
          title: 'Oldest live job under way',
          unit: 's',
          ask: [largest('sluice_scorer_oldest_job_age_seconds', '', 'age')],
        },
        {
          title: 'Live jobs, by what they wait for',
          help: 'turn, room, thread, judge_slot, judge_rate, judge: the last of these that is waited for is short.',
          ask: [total('sluice_scorer_waiting_jobs{lane="live"}', 'what')],
        },
        { title: 'Detector on one call, p99', unit: 's', ask: [p99('sluice_detector_seconds', 'scorer')] },
        {
          title: 'Large calls read in a thread',
          unit: 'ops',
          ask: [perSecond('sluice_detector_threads_total', 'outcome')],
        },
        {
          title: 'Custom scorers, and changes refused in an hour',
          ask: [
            largest('sluice_custom_scorers', '', 'in force'),
            inAnHour('sluice_custom_scorer_reloads_total{outcome="refused"}', '', 'refused'),
          ],
        },
      ],
    },
    {
      title: 'Judge',
      panels: [
        {
          title: 'Requests by outcome',
          unit: 'ops',
          ask: [perSecond('sluice_judge_calls_total', 'outcome')],
        },
        { title: 'Time of a request', unit: 's', ask: quantiles('sluice_judge_seconds') },
        { title: 'Tokens', unit: 'ops', ask: [perSecond('sluice_judge_tokens_total', 'kind')] },
        {
          title: 'Requests that were judged',
          unit: 'percentunit',
          ask: [share('sluice_judge_calls_total{outcome="judged"}', 'sluice_judge_calls_total', 'judged')],
        },
      ],
    },
    {
      title: 'Cost',
      panels: [
        {
          title: 'US dollars an hour, by scorer',
          unit: 'currencyUSD',
          ask: [inAnHour('sluice_judge_usd_total', 'scorer')],
        },
        {
          title: 'US dollars for a thousand scores',
          unit: 'currencyUSD',
          ask: [
            {
              expr: '1000 * sum(increase(sluice_judge_usd_total[1h])) / sum(increase(sluice_scores_total[1h]))',
              legend: 'all scores',
            },
          ],
        },
        {
          title: 'At this pace, a month',
          kind: 'stat',
          unit: 'currencyUSD',
          ask: [{ expr: '730 * sum(increase(sluice_judge_usd_total[1h]))', legend: 'USD' }],
        },
        {
          title: 'Replays wait for live jobs',
          help: '1: they do.',
          ask: [total('sluice_scorer_replay_paused', '', 'paused')],
        },
      ],
    },
  ],
}
