/** One span of a model, as OTLP's JSON has it. */
const traces = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'support-bot' } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'chat gpt-4o-mini',
              startTimeUnixNano: '1795824000000000000',
              endTimeUnixNano: '1795824000812000000',
              attributes: [
                { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
                { key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o-mini' } },
              ],
            },
          ],
        },
      ],
    },
  ],
}

/** The question of that span, as a log record of the GenAI conventions. */
const logs = {
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              eventName: 'gen_ai.user.message',
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              timeUnixNano: '1795824000000000000',
              body: {
                kvlistValue: {
                  values: [{ key: 'content', value: { stringValue: 'How do I reset my password?' } }],
                },
              },
            },
          ],
        },
      ],
    },
  ],
}

/**
 * An example body for each route that takes one, shown at /docs. A test sends every example as it is and
 * fails for a route without.
 */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  'post /internal/log': {
    agent_name: 'support-bot',
    session_id: 'ticket-4711',
    latency_ms: 812,
    request_body: {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'How do I reset my password?' }],
    },
    response_body: {
      model: 'gpt-4o-mini-2024-07-18',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Open Settings, then Security.' } }],
      usage: { prompt_tokens: 13, completion_tokens: 7, total_tokens: 20 },
    },
    metadata: { team: 'support' },
  },
  'post /internal/log/batch': {
    records: [
      {
        agent_name: 'support-bot',
        session_id: 'ticket-4711',
        request_body: {
          type: 'mcp_tool_call',
          tool_name: 'search_tickets',
          arguments: { query: 'password' },
        },
        response_body: { content: [{ type: 'text', text: '3 tickets' }] },
      },
      { model: 'my-own-model', request_body: { prompt: 'Hello' } },
    ],
  },
  'post /v1/traces': traces,
  'post /api/public/otel/v1/traces': traces,
  'post /v1/logs': logs,
  'post /api/public/otel/v1/logs': logs,
  'post /api/requests/search': { text: '"api key" sk-live-4eC39' },
  'post /internal/keys/resolve': {
    key_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  'post /internal/keys/lease': {
    key_id: 'key_01h455vb4pex5vsknk084sn02q',
    lease_id: '8c2f0f5e-62a5-4f6e-9d0b-8a4d3c1e7b21',
    sequence: 3,
    month: '2026-11-01',
    spent: '12500000000',
    under_way: '0',
    held: '0',
    minimum: '2500000000',
    wanted: '781250000000',
    waiting: '2500000000',
    refused: 0,
  },
  'post /internal/gateways/heartbeat': {
    name: 'gateway-1',
    version: '0.1.0',
    delivery: 'api',
    started_at: '2026-11-21T09:30:00.000Z',
    spool: { records: 0, bytes: 0, oldest_at: null },
    lost: {},
    problems: {},
  },
  'post /api/scorers': {
    name: 'unannounced_products',
    severity: 'high',
    description: 'Names of products that are not announced.',
    definition: { kind: 'keyword_list', keywords: ['project falcon', 'bluebird'], match_on: 'both' },
  },
  'patch /api/scorers/{id}': { enabled: true },
  'patch /api/scorers/{name}/settings': { enabled: false },
  'post /api/scorers/previews': {
    definition: {
      kind: 'criterion',
      criterion: 'The answer promises a refund.',
      unsafe_examples: ['Of course, you will get your money back.'],
      safe_examples: ['Please ask our billing team about refunds.'],
    },
    days: 3,
  },
  'post /api/v1/webhooks': {
    url: 'https://hooks.example.com/sluice',
    events: ['threat_detected', 'usage_alert'],
    filters: { severity: ['critical', 'high'] },
    // A usage_alert has no category: without the first half none would be sent.
    filter_expression: 'event != "threat_detected" || data.owasp_category in ["LLM01", "LLM02"]',
  },
  'post /api/v1/destinations': {
    kind: 'json',
    settings: {
      url: 'https://siem.example.com/events',
      template: '{ "text": "{{title}}", "key": "{{id}}" }',
    },
    include_text: false,
  },
  'patch /api/v1/destinations/{id}': { max_per_minute: 60 },
  'post /api/suppressions': {
    scorer_name: 'pii_detection',
    kind: 'phone_number',
    value: '+49 30 1234567',
    reason: 'The hotline that every answer names',
  },
  'post /api/suppressions/preview': { scorer_name: 'pii_detection', kind: 'phone_number' },
  'patch /api/findings/{id}': { state: 'acknowledged' },
  'post /api/findings/bulk': { ids: ['fnd_01h455vb4pex5vsknk084sn02q'], state: 'resolved' },
  'post /api/findings/changes/{change_id}/undo': {},
  'post /api/findings/{id}/comments': { text: 'The number is our hotline.' },
  'post /api/alert-rules': {
    name: 'Support bot fails',
    metric: 'failed_share',
    filter: { agent_name: 'support-bot' },
    window_minutes: 15,
    warning_threshold: 0.02,
    alert_threshold: 0.1,
  },
  'post /api/alert-rules/preview': { metric: 'unsafe_count', window_minutes: 60, alert_threshold: 20 },
  'patch /api/alert-rules/{id}': { alert_threshold: 0.2 },
  'patch /api/v1/webhooks/{id}': { disable_after_hours: 48 },
  'post /api/v1/webhooks/try': {
    filter_expression: 'event != "threat_detected" || data.severity == "critical"',
  },
  'post /api/v1/webhooks/{id}/test': { event: 'usage_alert' },
  'post /api/v1/webhooks/{id}/rotate-secret': { overlap_seconds: 3600 },
  'post /api/v1/webhooks/{id}/deliveries/replay': {
    start: '2026-11-21T09:00:00Z',
    end: '2026-11-21T10:00:00Z',
  },
  'post /api/v1/webhooks/{id}/deliveries/replay-chosen': { delivery_ids: ['dlv_01h455vb4pex5vsknk084sn02q'] },
  'post /api/billing/checkout': {
    tier: 'pro',
    success_url: 'https://app.example.com/billing/done',
    cancel_url: 'https://app.example.com/billing',
  },
  'post /api/billing/portal': { return_url: 'https://app.example.com/billing' },
  'post /webhook/payment': { id: 'evt_1MqqbKLt4dXK03v5qaIbiNCC', type: 'customer.subscription.updated' },
  'post /api/erasures': { scope: 'session', subject: 'ticket-4711' },
  'post /api/reviews': {
    request_id: 'req_01h455vb4pex5vsknk084sn02q',
    scorer_name: 'pii_detection',
    agrees: false,
    reason: 'the number is the order, not a card',
  },
  'post /api/score-runs': {
    start: '2026-11-20T00:00:00Z',
    end: '2026-11-21T00:00:00Z',
    scorers: ['pii_detection'],
    dry_run: true,
  },
  'post /api/redteam-runs': {
    project_id: 'prj_01h455vb4pex5vsknk084sn02q',
    agent_name: 'support-bot',
    target: { kind: 'chat', url: 'http://127.0.0.1:8080/v1/chat/completions', model: 'gpt-4o-mini' },
    options: { probes: ['LLM01', 'LLM07'], transformations: ['plain', 'base64', 'crescendo'], repeats: 3 },
    budget_usd: 2,
  },
  'post /api/projects': { name: 'Support', tier: 'team', retention_days: 30 },
  'patch /api/projects/{id}': { cost_alert_usd: 50, quota_warning_percent: 80 },
  'post /api/projects/{id}/keys': { name: 'production gateway', label: 'prod', scope: 'ingest' },
  'patch /api/projects/{id}/keys/{key_id}': {
    models: ['gpt-4o-mini', 'claude-*'],
    monthly_budget_usd: 50,
    when_unknown: 'stop',
  },
  'post /internal/people/first': { login: 'admin' },
  'post /internal/people/sign-in': {
    login: 'ada@example.com',
    password: 'correct horse battery staple',
    address: '203.0.113.7',
    user_agent: 'Mozilla/5.0',
  },
  'post /internal/people/sign-in-by-provider': {
    issuer: 'https://login.example.com',
    subject: '248289761001',
    login: 'grace@example.com',
    login_is_verified: true,
    name: 'Grace',
    role: 'analyst',
  },
  'post /api/me/password': {
    current_password: 'correct horse battery staple',
    new_password: 'a longer one than the last one',
  },
  'post /api/me/views': { name: 'Unsafe, not reviewed', query: 'verdict=unsafe&review=unreviewed' },
  'post /api/people': { login: 'ada@example.com', name: 'Ada', role: 'analyst' },
  'patch /api/people/{id}': { role: 'viewer' },
  'post /api/people/{id}/password': {},
  'post /api/dead-letters/{id}/drop': { reason: 'sent by a client that has been mended' },
  'post /api/dead-letters/redrive': { topic: 'llm.request.logged', code: 'CRASHED' },
  'post /api/dead-letters/drop': {
    topic: 'llm.request.logged',
    code: 'UNDECODABLE',
    reason: 'written by a program that is no client of ours',
  },
}
