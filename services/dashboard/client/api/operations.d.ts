// Made from /openapi.json: UPDATE_DOCS=1 with services/api/openapi.integration.test.ts rewrites it.

export interface Operations {
  'POST /api/alert-rules': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      metric:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
      filter?:
        | {
            agent_name?: string | undefined
            model?: string | undefined
            provider?: string | undefined
            source?: string | undefined
            tool_name?: string | undefined
            scorer_name?: string | undefined
            severity?: 'medium' | 'high' | 'critical' | undefined
          }
        | undefined
      window_minutes: number
      direction?: 'above' | 'below' | undefined
      warning_threshold?: number | null | undefined
      alert_threshold: number
      for_minutes?: number | undefined
      cooldown_minutes?: number | undefined
      compare?: 'none' | 'last_week' | undefined
      name: string
      enabled?: boolean | undefined
    }
    answer: {
      id: string
      project_id: string
      name: string
      enabled: boolean
      metric:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
      filter: Record<string, string>
      window_minutes: number
      direction: 'above' | 'below'
      warning_threshold: number | null
      alert_threshold: number
      for_minutes: number
      cooldown_minutes: number
      compare: 'none' | 'last_week'
      is_built_in: boolean
      state: {
        status: 'ok' | 'warning' | 'alert' | 'no_data' | 'late'
        since: string
        fires_since: string | null
        value: number | null
        compared_with: number | null
        evaluated_until: string | null
      }
      created_at: string
      updated_at: string
    }
  }
  'GET /api/alert-rules': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            name: string
            enabled: boolean
            metric:
              | 'unsafe_share'
              | 'unsafe_count'
              | 'failed_share'
              | 'latency_p95'
              | 'cost_usd'
              | 'tokens'
              | 'calls'
              | 'not_read_share'
              | 'delivery_failures'
              | 'spool_wait_s'
              | 'judge_budget_share'
            filter: Record<string, string>
            window_minutes: number
            direction: 'above' | 'below'
            warning_threshold: number | null
            alert_threshold: number
            for_minutes: number
            cooldown_minutes: number
            compare: 'none' | 'last_week'
            is_built_in: boolean
            state: {
              status: 'ok' | 'warning' | 'alert' | 'no_data' | 'late'
              since: string
              fires_since: string | null
              value: number | null
              compared_with: number | null
              evaluated_until: string | null
            }
            created_at: string
            updated_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            name: string
            enabled: boolean
            metric:
              | 'unsafe_share'
              | 'unsafe_count'
              | 'failed_share'
              | 'latency_p95'
              | 'cost_usd'
              | 'tokens'
              | 'calls'
              | 'not_read_share'
              | 'delivery_failures'
              | 'spool_wait_s'
              | 'judge_budget_share'
            filter: Record<string, string>
            window_minutes: number
            direction: 'above' | 'below'
            warning_threshold: number | null
            alert_threshold: number
            for_minutes: number
            cooldown_minutes: number
            compare: 'none' | 'last_week'
            is_built_in: boolean
            state: {
              status: 'ok' | 'warning' | 'alert' | 'no_data' | 'late'
              since: string
              fires_since: string | null
              value: number | null
              compared_with: number | null
              evaluated_until: string | null
            }
            created_at: string
            updated_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/alert-rules/preview': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      metric:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
      filter?:
        | {
            agent_name?: string | undefined
            model?: string | undefined
            provider?: string | undefined
            source?: string | undefined
            tool_name?: string | undefined
            scorer_name?: string | undefined
            severity?: 'medium' | 'high' | 'critical' | undefined
          }
        | undefined
      window_minutes: number
      direction?: 'above' | 'below' | undefined
      warning_threshold?: number | null | undefined
      alert_threshold: number
      for_minutes?: number | undefined
      cooldown_minutes?: number | undefined
      compare?: 'none' | 'last_week' | undefined
    }
    answer: {
      start: string
      end: string
      hours: number
      hours_without_data: number
      fired: number
      intervals: {
        level: 'warning' | 'alert'
        start: string
        end: string | null
        worst_value: number
        notified: boolean
      }[]
    }
  }
  'GET /api/alert-rules/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      name: string
      enabled: boolean
      metric:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
      filter: Record<string, string>
      window_minutes: number
      direction: 'above' | 'below'
      warning_threshold: number | null
      alert_threshold: number
      for_minutes: number
      cooldown_minutes: number
      compare: 'none' | 'last_week'
      is_built_in: boolean
      state: {
        status: 'ok' | 'warning' | 'alert' | 'no_data' | 'late'
        since: string
        fires_since: string | null
        value: number | null
        compared_with: number | null
        evaluated_until: string | null
      }
      created_at: string
      updated_at: string
    }
  }
  'PATCH /api/alert-rules/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      name?: string | undefined
      enabled?: boolean | undefined
      metric?:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
        | undefined
      filter?:
        | {
            agent_name?: string | undefined
            model?: string | undefined
            provider?: string | undefined
            source?: string | undefined
            tool_name?: string | undefined
            scorer_name?: string | undefined
            severity?: 'medium' | 'high' | 'critical' | undefined
          }
        | undefined
      window_minutes?: number | undefined
      direction?: 'above' | 'below' | undefined
      warning_threshold?: number | null | undefined
      alert_threshold?: number | undefined
      for_minutes?: number | undefined
      cooldown_minutes?: number | undefined
      compare?: 'none' | 'last_week' | undefined
    }
    answer: {
      id: string
      project_id: string
      name: string
      enabled: boolean
      metric:
        | 'unsafe_share'
        | 'unsafe_count'
        | 'failed_share'
        | 'latency_p95'
        | 'cost_usd'
        | 'tokens'
        | 'calls'
        | 'not_read_share'
        | 'delivery_failures'
        | 'spool_wait_s'
        | 'judge_budget_share'
      filter: Record<string, string>
      window_minutes: number
      direction: 'above' | 'below'
      warning_threshold: number | null
      alert_threshold: number
      for_minutes: number
      cooldown_minutes: number
      compare: 'none' | 'last_week'
      is_built_in: boolean
      state: {
        status: 'ok' | 'warning' | 'alert' | 'no_data' | 'late'
        since: string
        fires_since: string | null
        value: number | null
        compared_with: number | null
        evaluated_until: string | null
      }
      created_at: string
      updated_at: string
    }
  }
  'DELETE /api/alert-rules/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: unknown
  }
  'GET /api/audit': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      person_id?: string | undefined
      action?: string | undefined
      subject?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            at: string
            actor_kind: 'person' | 'key' | 'operator'
            actor_id: string | null
            actor_name: string | null
            address: string | null
            action: string
            subject: string | null
            project_id: string | null
            detail: Record<string, unknown> | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            at: string
            actor_kind: 'person' | 'key' | 'operator'
            actor_id: string | null
            actor_name: string | null
            address: string | null
            action: string
            subject: string | null
            project_id: string | null
            detail: Record<string, unknown> | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/billing/checkout': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: { tier: 'free' | 'pro' | 'team' | 'enterprise'; success_url: string; cancel_url: string }
    answer: { id: string; url: string | null }
  }
  'GET /api/billing/judge-spend': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      project_id: string
      period_start: string
      period_reset_at: string
      cap_usd: number | null
      spent_usd: number
      reserved_usd: number
      requests: number
      prompt_tokens: number
      completion_tokens: number
      by_scorer: { scorer_name: string; spent_usd: number; requests: number }[]
    }
  }
  'POST /api/billing/portal': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: { return_url: string }
    answer: { url: string }
  }
  'GET /api/billing/subscription': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      project_id: string
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      limit: number | null
      requests_this_period: number
      period_start: string
      period_reset_at: string
      status: string
    }
  }
  'GET /api/costs': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      previous_start?: string | undefined
      by?: string | undefined
      user_id?: string | undefined
      order?: 'cost' | 'calls' | 'tokens' | 'failed' | 'unsafe' | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
    }
    body: undefined
    answer: {
      project_id: string | null
      start: string
      end: string
      previous_start: string
      by: string[]
      step_hours: number
      counted_from: string | null
      named_from: string | null
      total: {
        calls: number
        failed: number
        unsafe: number
        tokens: number
        prompt_tokens: number
        completion_tokens: number
        cached_tokens: number
        reasoning_tokens: number
        priced: number
        cost_usd: number
        latency_p50_ms: number | null
        latency_p95_ms: number | null
      }
      previous: {
        calls: number
        failed: number
        unsafe: number
        tokens: number
        prompt_tokens: number
        completion_tokens: number
        cached_tokens: number
        reasoning_tokens: number
        priced: number
        cost_usd: number
      } | null
      groups: {
        values: (string | null)[]
        is_other: boolean
        calls: number
        failed: number
        unsafe: number
        tokens: number
        prompt_tokens: number
        completion_tokens: number
        cached_tokens: number
        reasoning_tokens: number
        priced: number
        cost_usd: number
        latency_p50_ms: number | null
        latency_p95_ms: number | null
        previous: {
          calls: number
          failed: number
          unsafe: number
          tokens: number
          prompt_tokens: number
          completion_tokens: number
          cached_tokens: number
          reasoning_tokens: number
          priced: number
          cost_usd: number
        } | null
      }[]
      series: {
        values: (string | null)[]
        is_other: boolean
        points: {
          at: string
          calls: number
          failed: number
          unsafe: number
          tokens: number
          prompt_tokens: number
          completion_tokens: number
          cached_tokens: number
          reasoning_tokens: number
          priced: number
          cost_usd: number
          latency_p50_ms: number | null
          latency_p95_ms: number | null
        }[]
      }[]
    }
  }
  'GET /api/costs/export': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      previous_start?: string | undefined
      by?: string | undefined
      user_id?: string | undefined
      order?: 'cost' | 'calls' | 'tokens' | 'failed' | 'unsafe' | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
    }
    body: undefined
    answer: unknown
  }
  'GET /api/dead-letters': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      topic?: string | undefined
      code?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      status?: 'open' | 'redriven' | 'dropped' | 'lost' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            topic: string
            partition: number
            offset: number
            source_partition: number | null
            source_offset: number | null
            group_id: string | null
            code: string
            message: string
            key: string | null
            project_id: string | null
            request_id: string | null
            value_bytes: number | null
            dead_at: string
            status: 'open' | 'redriven' | 'dropped' | 'lost'
            decided_at: string | null
            reason: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            topic: string
            partition: number
            offset: number
            source_partition: number | null
            source_offset: number | null
            group_id: string | null
            code: string
            message: string
            key: string | null
            project_id: string | null
            request_id: string | null
            value_bytes: number | null
            dead_at: string
            status: 'open' | 'redriven' | 'dropped' | 'lost'
            decided_at: string | null
            reason: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/dead-letters/drop': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      topic?: string | undefined
      code?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      after?: string | undefined
      limit?: number | undefined
      reason: string
    }
    answer: { dropped: number; failed: { id: string; code: string; detail: string }[]; next: string | null }
  }
  'POST /api/dead-letters/redrive': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      topic?: string | undefined
      code?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      after?: string | undefined
      limit?: number | undefined
    }
    answer: { redriven: number; failed: { id: string; code: string; detail: string }[]; next: string | null }
  }
  'GET /api/dead-letters/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      topic: string
      partition: number
      offset: number
      source_partition: number | null
      source_offset: number | null
      group_id: string | null
      code: string
      message: string
      key: string | null
      project_id: string | null
      request_id: string | null
      value_bytes: number | null
      dead_at: string
      status: 'open' | 'redriven' | 'dropped' | 'lost'
      decided_at: string | null
      reason: string | null
    }
  }
  'GET /api/dead-letters/{id}/content': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: { content: Record<string, unknown> | null; reason: string | null }
  }
  'POST /api/dead-letters/{id}/drop': {
    params: { id: string }
    query: Record<never, never>
    body: { reason: string }
    answer: {
      id: string
      topic: string
      partition: number
      offset: number
      source_partition: number | null
      source_offset: number | null
      group_id: string | null
      code: string
      message: string
      key: string | null
      project_id: string | null
      request_id: string | null
      value_bytes: number | null
      dead_at: string
      status: 'open' | 'redriven' | 'dropped' | 'lost'
      decided_at: string | null
      reason: string | null
    }
  }
  'POST /api/dead-letters/{id}/redrive': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      topic: string
      partition: number
      offset: number
      source_partition: number | null
      source_offset: number | null
      group_id: string | null
      code: string
      message: string
      key: string | null
      project_id: string | null
      request_id: string | null
      value_bytes: number | null
      dead_at: string
      status: 'open' | 'redriven' | 'dropped' | 'lost'
      decided_at: string | null
      reason: string | null
    }
  }
  'POST /api/erasures': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: { scope: 'request' | 'session' | 'user' | 'project'; subject?: string | undefined }
    answer: {
      id: string
      project_id: string
      scope: 'request' | 'session' | 'user' | 'project'
      subject: string | null
      requested_at: string
      requested_by: 'operator' | 'key'
      status: 'erasing' | 'erased'
      erased_calls: number
      erased_at: string | null
      kept_in_kafka_until: string
    }
  }
  'GET /api/erasures': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      status?: 'erasing' | 'erased' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            scope: 'request' | 'session' | 'user' | 'project'
            subject: string | null
            requested_at: string
            requested_by: 'operator' | 'key'
            status: 'erasing' | 'erased'
            erased_calls: number
            erased_at: string | null
            kept_in_kafka_until: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            scope: 'request' | 'session' | 'user' | 'project'
            subject: string | null
            requested_at: string
            requested_by: 'operator' | 'key'
            status: 'erasing' | 'erased'
            erased_calls: number
            erased_at: string | null
            kept_in_kafka_until: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/erasures/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      scope: 'request' | 'session' | 'user' | 'project'
      subject: string | null
      requested_at: string
      requested_by: 'operator' | 'key'
      status: 'erasing' | 'erased'
      erased_calls: number
      erased_at: string | null
      kept_in_kafka_until: string
    }
  }
  'GET /api/findings': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      state?: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      scorer_name?: string | undefined
      agent_name?: string | undefined
      tool_name?: string | undefined
      owner?: string | undefined
      overdue?: 'true' | 'false' | undefined
      since?: string | undefined
      user_id?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            scorer_name: string
            evidence_kind: string | null
            agent_name: string | null
            tool_name: string | null
            owasp_category: string | null
            severity: 'medium' | 'high' | 'critical'
            state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
            muted_until: string | null
            owner: { id: string; login: string } | null
            count: number
            distinct_values: number
            distinct_values_is_exact: boolean
            first_seen_at: string
            last_seen_at: string
            first_request_id: string | null
            last_request_id: string | null
            first_opened_at: string
            opened_at: string
            closed_at: string | null
            closed_by: string | null
            due_at: string | null
            is_overdue: boolean
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            scorer_name: string
            evidence_kind: string | null
            agent_name: string | null
            tool_name: string | null
            owasp_category: string | null
            severity: 'medium' | 'high' | 'critical'
            state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
            muted_until: string | null
            owner: { id: string; login: string } | null
            count: number
            distinct_values: number
            distinct_values_is_exact: boolean
            first_seen_at: string
            last_seen_at: string
            first_request_id: string | null
            last_request_id: string | null
            first_opened_at: string
            opened_at: string
            closed_at: string | null
            closed_by: string | null
            due_at: string | null
            is_overdue: boolean
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/findings/bulk': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      ids: string[]
      state?: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | undefined
      muted_until?: string | undefined
      owner?: string | null | undefined
      author?: string | undefined
    }
    answer: {
      change_id: string
      changed: string[]
      skipped: {
        id: string
        reason: 'not_found' | 'state' | 'changed_since'
        state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | null
      }[]
    }
  }
  'POST /api/findings/changes/{change_id}/undo': {
    params: { change_id: string }
    query: { project_id?: string | undefined }
    body: { author?: string | undefined }
    answer: {
      change_id: string
      changed: string[]
      skipped: {
        id: string
        reason: 'not_found' | 'state' | 'changed_since'
        state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | null
      }[]
      without_owner: string[]
    }
  }
  'GET /api/findings/facets': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      state?: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      scorer_name?: string | undefined
      agent_name?: string | undefined
      tool_name?: string | undefined
      owner?: string | undefined
      overdue?: 'true' | 'false' | undefined
      since?: string | undefined
      user_id?: string | undefined
    }
    body: undefined
    answer: {
      findings: number
      overdue: number
      state: { value: string; count: number }[]
      severity: { value: string; count: number }[]
      scorer_name: { value: string; count: number }[]
      agent_name: { value: string; count: number }[]
      tool_name: { value: string; count: number }[]
      owner: { value: string; count: number }[]
      counts_are_exact?: false | undefined
    }
  }
  'GET /api/findings/owners': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: { owners: { id: string; login: string; name: string }[] }
  }
  'PATCH /api/findings/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      state?: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted' | undefined
      muted_until?: string | undefined
      owner?: string | null | undefined
      author?: string | undefined
    }
    answer: {
      id: string
      project_id: string
      scorer_name: string
      evidence_kind: string | null
      agent_name: string | null
      tool_name: string | null
      owasp_category: string | null
      severity: 'medium' | 'high' | 'critical'
      state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
      muted_until: string | null
      owner: { id: string; login: string } | null
      count: number
      distinct_values: number
      distinct_values_is_exact: boolean
      first_seen_at: string
      last_seen_at: string
      first_request_id: string | null
      last_request_id: string | null
      first_opened_at: string
      opened_at: string
      closed_at: string | null
      closed_by: string | null
      due_at: string | null
      is_overdue: boolean
      change_id: string
      suppression: {
        rule: {
          scorer_name: string
          kind?: string | undefined
          agent_name?: string | undefined
          tool_name?: string | undefined
          max_severity: 'medium' | 'high' | 'critical'
        }
        needs_expires_at: boolean
        covered: number
        examined: number
        is_complete: boolean
        sample_request_ids: string[]
      } | null
    }
  }
  'GET /api/findings/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      scorer_name: string
      evidence_kind: string | null
      agent_name: string | null
      tool_name: string | null
      owasp_category: string | null
      severity: 'medium' | 'high' | 'critical'
      state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
      muted_until: string | null
      owner: { id: string; login: string } | null
      count: number
      distinct_values: number
      distinct_values_is_exact: boolean
      first_seen_at: string
      last_seen_at: string
      first_request_id: string | null
      last_request_id: string | null
      first_opened_at: string
      opened_at: string
      closed_at: string | null
      closed_by: string | null
      due_at: string | null
      is_overdue: boolean
      sessions: number
      users: number
      sessions_are_exact: boolean
      calls: {
        request_id: string
        score_id: string
        created_at: string
        severity: 'medium' | 'high' | 'critical'
        score_value: number | null
        model: string
        session_id: string | null
        user_id: string | null
      }[]
      values: { first_request_id: string | null; last_request_id: string | null }[]
      comments: {
        id: string
        author: string
        author_kind: 'person' | 'key' | 'operator'
        text: string | null
        created_at: string
      }[]
      history: {
        change_id: string
        at: string
        actor_kind: 'person' | 'key' | 'operator' | null
        actor_name: string | null
        before: {
          state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
          muted_until: string | null
          owner: { id: string; login: string } | null
        }
        after: {
          state: 'open' | 'acknowledged' | 'resolved' | 'false_alarm' | 'muted'
          muted_until: string | null
          owner: { id: string; login: string } | null
        }
        lost_owner: string | null
      }[]
    }
  }
  'POST /api/findings/{id}/comments': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: { text: string; author?: string | undefined }
    answer: {
      id: string
      author: string
      author_kind: 'person' | 'key' | 'operator'
      text: string | null
      created_at: string
    }
  }
  'GET /api/me': {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      sees_every_project: boolean
      projects: { id: string; name: string }[]
      project_count: number
      login_id: string
      judge: { configured: boolean | null }
    }
  }
  'GET /api/me/logins': {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: {
      items: {
        id: string
        created_at: string
        last_seen_at: string
        ends_at: string
        address: string | null
        user_agent: string | null
      }[]
      total: number
      page: number
      page_size: number
      next_cursor: null
    }
  }
  'DELETE /api/me/logins/{login_id}': {
    params: { login_id: string }
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  'POST /api/me/password': {
    params: Record<never, never>
    query: Record<never, never>
    body: { current_password: string; new_password: string }
    answer: unknown
  }
  'POST /api/me/sign-out': {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  'GET /api/me/views': {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: {
      items: { id: string; name: string; query: string; created_at: string }[]
      total: number
      page: number
      page_size: number
      next_cursor: null
    }
  }
  'POST /api/me/views': {
    params: Record<never, never>
    query: Record<never, never>
    body: { name: string; query: string }
    answer: { id: string; name: string; query: string; created_at: string }
  }
  'DELETE /api/me/views/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  'GET /api/metadata-keys': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: { keys: { name: string; counted_from: string }[] }
  }
  'GET /api/operations': {
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: {
      at: string
      health: { status: 'ok' | 'degraded'; problems: Record<string, string> }
      groups: { group: string; topic: string; lag: number; partitions: number; members: number }[]
      oldest_job_age_s: number | null
      dead_letters: { topic: string; open: number; oldest_at: string }[]
      outbox: { unpublished: number; oldest_at: string | null }
      deliveries_waiting: number
      failing_webhooks: { id: string; project_id: string; deliveries: number; failed: number }[]
      judge: { configured: boolean | null }
      partitions: { days: number; first: string | null; last: string | null }
      gateways: {
        project_id: string | null
        name: string
        version: string
        delivery: 'api' | 'kafka'
        started_at: string
        seen_at: string
        spool: { records: number; bytes: number; oldest_at: string | null }
        lost: Record<string, number>
        left_out: Record<string, Record<string, number>>
        problems: Record<string, string>
      }[]
    }
  }
  'POST /api/people': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      project_ids?: string[] | undefined
      password?: string | null | undefined
    }
    answer: {
      id: string
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      project_ids: string[]
      has_password: boolean
      oidc_issuer: string | null
      disabled: boolean
      created_at: string
      last_login_at: string | null
      password?: string | undefined
    }
  }
  'GET /api/people': {
    params: Record<never, never>
    query: { page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string
            login: string
            name: string
            role: 'viewer' | 'analyst' | 'admin'
            project_ids: string[]
            has_password: boolean
            oidc_issuer: string | null
            disabled: boolean
            created_at: string
            last_login_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            login: string
            name: string
            role: 'viewer' | 'analyst' | 'admin'
            project_ids: string[]
            has_password: boolean
            oidc_issuer: string | null
            disabled: boolean
            created_at: string
            last_login_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/people/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      project_ids: string[]
      has_password: boolean
      oidc_issuer: string | null
      disabled: boolean
      created_at: string
      last_login_at: string | null
    }
  }
  'PATCH /api/people/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: {
      name?: string | undefined
      role?: 'viewer' | 'analyst' | 'admin' | undefined
      project_ids?: string[] | undefined
      disabled?: boolean | undefined
    }
    answer: {
      id: string
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      project_ids: string[]
      has_password: boolean
      oidc_issuer: string | null
      disabled: boolean
      created_at: string
      last_login_at: string | null
    }
  }
  'GET /api/people/{id}/logins': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      items: {
        id: string
        created_at: string
        last_seen_at: string
        ends_at: string
        address: string | null
        user_agent: string | null
      }[]
      total: number
      page: number
      page_size: number
      next_cursor: null
    }
  }
  'DELETE /api/people/{id}/logins': {
    params: { id: string }
    query: { login_id?: string | undefined }
    body: undefined
    answer: unknown
  }
  'POST /api/people/{id}/password': {
    params: { id: string }
    query: Record<never, never>
    body: { password?: string | undefined }
    answer: {
      id: string
      login: string
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      project_ids: string[]
      has_password: boolean
      oidc_issuer: string | null
      disabled: boolean
      created_at: string
      last_login_at: string | null
      password?: string | undefined
    }
  }
  'POST /api/projects': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      name: string
      tier?: 'free' | 'pro' | 'team' | 'enterprise' | undefined
      zero_content_retention?: boolean | undefined
      mask?: boolean | undefined
      retention_days?: number | null | undefined
      cost_alert_usd?: number | null | undefined
      quota_warning_percent?: number | null | undefined
      judge_mode?: 'always' | 'uncertain' | 'never' | undefined
      judge_usd_per_period?: number | null | undefined
      sampling?: Record<string, number> | undefined
      metadata_keys?: string[] | undefined
    }
    answer: {
      id: string
      name: string
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      zero_content_retention: boolean
      mask: boolean
      retention_days: number | null
      cost_alert_usd: number | null
      quota_warning_percent: number | null
      judge_mode: 'always' | 'uncertain' | 'never'
      judge_usd_per_period: number | null
      sampling: Record<string, number>
      metadata_keys: string[]
      created_at: string
    }
  }
  'GET /api/projects': {
    params: Record<never, never>
    query: { page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string
            name: string
            tier: 'free' | 'pro' | 'team' | 'enterprise'
            zero_content_retention: boolean
            mask: boolean
            retention_days: number | null
            cost_alert_usd: number | null
            quota_warning_percent: number | null
            judge_mode: 'always' | 'uncertain' | 'never'
            judge_usd_per_period: number | null
            sampling: Record<string, number>
            metadata_keys: string[]
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            name: string
            tier: 'free' | 'pro' | 'team' | 'enterprise'
            zero_content_retention: boolean
            mask: boolean
            retention_days: number | null
            cost_alert_usd: number | null
            quota_warning_percent: number | null
            judge_mode: 'always' | 'uncertain' | 'never'
            judge_usd_per_period: number | null
            sampling: Record<string, number>
            metadata_keys: string[]
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/projects/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      name: string
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      zero_content_retention: boolean
      mask: boolean
      retention_days: number | null
      cost_alert_usd: number | null
      quota_warning_percent: number | null
      judge_mode: 'always' | 'uncertain' | 'never'
      judge_usd_per_period: number | null
      sampling: Record<string, number>
      metadata_keys: string[]
      created_at: string
    }
  }
  'PATCH /api/projects/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: {
      name?: string | undefined
      tier?: 'free' | 'pro' | 'team' | 'enterprise' | undefined
      zero_content_retention?: boolean | undefined
      mask?: boolean | undefined
      retention_days?: number | null | undefined
      cost_alert_usd?: number | null | undefined
      quota_warning_percent?: number | null | undefined
      judge_mode?: 'always' | 'uncertain' | 'never' | undefined
      judge_usd_per_period?: number | null | undefined
      sampling?: Record<string, number> | undefined
      metadata_keys?: string[] | undefined
    }
    answer: {
      id: string
      name: string
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      zero_content_retention: boolean
      mask: boolean
      retention_days: number | null
      cost_alert_usd: number | null
      quota_warning_percent: number | null
      judge_mode: 'always' | 'uncertain' | 'never'
      judge_usd_per_period: number | null
      sampling: Record<string, number>
      metadata_keys: string[]
      created_at: string
    }
  }
  'POST /api/projects/{id}/keys': {
    params: { id: string }
    query: Record<never, never>
    body: {
      name: string
      label?: string | null | undefined
      scope?: 'ingest' | 'read' | 'all' | undefined
      expires_at?: string | null | undefined
      user?: string | null | undefined
      team?: string | null | undefined
      models?: string[] | null | undefined
      capture?: 'full' | 'metadata' | 'none' | undefined
      rate_limit_per_minute?: number | null | undefined
      monthly_budget_usd?: number | null | undefined
      when_unknown?: 'stop' | 'allow' | undefined
    }
    answer: {
      id: string
      name: string
      label: string | null
      last4: string
      scope: 'ingest' | 'read' | 'all'
      user: string | null
      team: string | null
      models: string[] | null
      capture: 'full' | 'metadata' | 'none'
      rate_limit_per_minute: number | null
      monthly_budget_usd: number | null
      when_unknown: 'stop' | 'allow'
      spent_usd: number | null
      reserved_usd: number | null
      created_at: string
      expires_at: string | null
      expired: boolean
      last_used_at: string | null
      key: string
    }
  }
  'GET /api/projects/{id}/keys': {
    params: { id: string }
    query: { page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string
            name: string
            label: string | null
            last4: string
            scope: 'ingest' | 'read' | 'all'
            user: string | null
            team: string | null
            models: string[] | null
            capture: 'full' | 'metadata' | 'none'
            rate_limit_per_minute: number | null
            monthly_budget_usd: number | null
            when_unknown: 'stop' | 'allow'
            spent_usd: number | null
            reserved_usd: number | null
            created_at: string
            expires_at: string | null
            expired: boolean
            last_used_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            name: string
            label: string | null
            last4: string
            scope: 'ingest' | 'read' | 'all'
            user: string | null
            team: string | null
            models: string[] | null
            capture: 'full' | 'metadata' | 'none'
            rate_limit_per_minute: number | null
            monthly_budget_usd: number | null
            when_unknown: 'stop' | 'allow'
            spent_usd: number | null
            reserved_usd: number | null
            created_at: string
            expires_at: string | null
            expired: boolean
            last_used_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/projects/{id}/keys/{key_id}': {
    params: { id: string; key_id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      name: string
      label: string | null
      last4: string
      scope: 'ingest' | 'read' | 'all'
      user: string | null
      team: string | null
      models: string[] | null
      capture: 'full' | 'metadata' | 'none'
      rate_limit_per_minute: number | null
      monthly_budget_usd: number | null
      when_unknown: 'stop' | 'allow'
      spent_usd: number | null
      reserved_usd: number | null
      created_at: string
      expires_at: string | null
      expired: boolean
      last_used_at: string | null
    }
  }
  'PATCH /api/projects/{id}/keys/{key_id}': {
    params: { id: string; key_id: string }
    query: Record<never, never>
    body: {
      name?: string | undefined
      user?: string | null | undefined
      team?: string | null | undefined
      models?: string[] | null | undefined
      capture?: 'full' | 'metadata' | 'none' | undefined
      rate_limit_per_minute?: number | null | undefined
      monthly_budget_usd?: number | null | undefined
      when_unknown?: 'stop' | 'allow' | undefined
    }
    answer: {
      id: string
      name: string
      label: string | null
      last4: string
      scope: 'ingest' | 'read' | 'all'
      user: string | null
      team: string | null
      models: string[] | null
      capture: 'full' | 'metadata' | 'none'
      rate_limit_per_minute: number | null
      monthly_budget_usd: number | null
      when_unknown: 'stop' | 'allow'
      spent_usd: number | null
      reserved_usd: number | null
      created_at: string
      expires_at: string | null
      expired: boolean
      last_used_at: string | null
    }
  }
  'DELETE /api/projects/{id}/keys/{key_id}': {
    params: { id: string; key_id: string }
    query: Record<never, never>
    body: undefined
    answer: unknown
  }
  'POST /api/public/otel/v1/logs': {
    params: Record<never, never>
    query: Record<never, never>
    body: { resourceLogs: Record<string, unknown>[] }
    answer: string
  }
  'POST /api/public/otel/v1/traces': {
    params: Record<never, never>
    query: Record<never, never>
    body: { resourceSpans: Record<string, unknown>[] }
    answer: string
  }
  'POST /api/redteam-runs': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      project_id: string
      agent_name: string
      target:
        | { kind: 'chat'; url: string; model?: string | undefined }
        | {
            kind: 'http'
            url: string
            headers?: Record<string, string> | undefined
            body: string
            answer: string
          }
        | { kind: 'command' }
        | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
      options?:
        | {
            probes?: string[] | undefined
            transformations?:
              | (
                  | 'plain'
                  | 'base64'
                  | 'hex'
                  | 'rot13'
                  | 'backwards'
                  | 'leetspeak'
                  | 'look_alikes'
                  | 'zero_width'
                  | 'full_width'
                  | 'spaced'
                  | 'tag_letters'
                  | 'role_play'
                  | 'developer_mode'
                  | 'no_refusal'
                  | 'translation_table'
                  | 'payload_splitting'
                  | 'many_shot'
                  | 'crescendo'
                  | 'json_form'
                  | 'story_frame'
                  | 'adaptive'
                )[]
              | undefined
            repeats?: number | undefined
            limit?: number | undefined
            concurrency?: number | undefined
            requests_per_minute?: number | undefined
            alert?: boolean | undefined
          }
        | undefined
      seed?: string | undefined
      budget_usd?: number | null | undefined
      runner?: 'worker' | 'cli' | undefined
    }
    answer: {
      id: string
      project_id: string
      agent_name: string
      target:
        | { kind: 'chat'; url: string; model?: string | undefined }
        | {
            kind: 'http'
            url: string
            headers?: Record<string, string> | undefined
            body: string
            answer: string
          }
        | { kind: 'command' }
        | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
      options: {
        probes?: string[] | undefined
        transformations?:
          | (
              | 'plain'
              | 'base64'
              | 'hex'
              | 'rot13'
              | 'backwards'
              | 'leetspeak'
              | 'look_alikes'
              | 'zero_width'
              | 'full_width'
              | 'spaced'
              | 'tag_letters'
              | 'role_play'
              | 'developer_mode'
              | 'no_refusal'
              | 'translation_table'
              | 'payload_splitting'
              | 'many_shot'
              | 'crescendo'
              | 'json_form'
              | 'story_frame'
              | 'adaptive'
            )[]
          | undefined
        repeats?: number | undefined
        limit?: number | undefined
        concurrency?: number | undefined
        requests_per_minute?: number | undefined
        alert?: boolean | undefined
      }
      seed: string
      budget_usd: number | null
      runner: 'worker' | 'cli'
      status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
      stopped_by: 'budget' | 'no_price' | null
      problem: string | null
      planned_count: number | null
      sent_count: number
      total_probes: number
      pass_count: number
      fail_count: number
      unscored_count: number
      critical_count: number
      cost_usd: number | null
      created_at: string
      started_at: string | null
      finished_at: string | null
      duration_seconds: number | null
    }
  }
  'GET /api/redteam-runs': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      status?: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed' | undefined
      agent_name?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            agent_name: string
            target:
              | { kind: 'chat'; url: string; model?: string | undefined }
              | {
                  kind: 'http'
                  url: string
                  headers?: Record<string, string> | undefined
                  body: string
                  answer: string
                }
              | { kind: 'command' }
              | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
            options: {
              probes?: string[] | undefined
              transformations?:
                | (
                    | 'plain'
                    | 'base64'
                    | 'hex'
                    | 'rot13'
                    | 'backwards'
                    | 'leetspeak'
                    | 'look_alikes'
                    | 'zero_width'
                    | 'full_width'
                    | 'spaced'
                    | 'tag_letters'
                    | 'role_play'
                    | 'developer_mode'
                    | 'no_refusal'
                    | 'translation_table'
                    | 'payload_splitting'
                    | 'many_shot'
                    | 'crescendo'
                    | 'json_form'
                    | 'story_frame'
                    | 'adaptive'
                  )[]
                | undefined
              repeats?: number | undefined
              limit?: number | undefined
              concurrency?: number | undefined
              requests_per_minute?: number | undefined
              alert?: boolean | undefined
            }
            seed: string
            budget_usd: number | null
            runner: 'worker' | 'cli'
            status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
            stopped_by: 'budget' | 'no_price' | null
            problem: string | null
            planned_count: number | null
            sent_count: number
            total_probes: number
            pass_count: number
            fail_count: number
            unscored_count: number
            critical_count: number
            cost_usd: number | null
            created_at: string
            started_at: string | null
            finished_at: string | null
            duration_seconds: number | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            agent_name: string
            target:
              | { kind: 'chat'; url: string; model?: string | undefined }
              | {
                  kind: 'http'
                  url: string
                  headers?: Record<string, string> | undefined
                  body: string
                  answer: string
                }
              | { kind: 'command' }
              | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
            options: {
              probes?: string[] | undefined
              transformations?:
                | (
                    | 'plain'
                    | 'base64'
                    | 'hex'
                    | 'rot13'
                    | 'backwards'
                    | 'leetspeak'
                    | 'look_alikes'
                    | 'zero_width'
                    | 'full_width'
                    | 'spaced'
                    | 'tag_letters'
                    | 'role_play'
                    | 'developer_mode'
                    | 'no_refusal'
                    | 'translation_table'
                    | 'payload_splitting'
                    | 'many_shot'
                    | 'crescendo'
                    | 'json_form'
                    | 'story_frame'
                    | 'adaptive'
                  )[]
                | undefined
              repeats?: number | undefined
              limit?: number | undefined
              concurrency?: number | undefined
              requests_per_minute?: number | undefined
              alert?: boolean | undefined
            }
            seed: string
            budget_usd: number | null
            runner: 'worker' | 'cli'
            status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
            stopped_by: 'budget' | 'no_price' | null
            problem: string | null
            planned_count: number | null
            sent_count: number
            total_probes: number
            pass_count: number
            fail_count: number
            unscored_count: number
            critical_count: number
            cost_usd: number | null
            created_at: string
            started_at: string | null
            finished_at: string | null
            duration_seconds: number | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/redteam-runs/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      agent_name: string
      target:
        | { kind: 'chat'; url: string; model?: string | undefined }
        | {
            kind: 'http'
            url: string
            headers?: Record<string, string> | undefined
            body: string
            answer: string
          }
        | { kind: 'command' }
        | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
      options: {
        probes?: string[] | undefined
        transformations?:
          | (
              | 'plain'
              | 'base64'
              | 'hex'
              | 'rot13'
              | 'backwards'
              | 'leetspeak'
              | 'look_alikes'
              | 'zero_width'
              | 'full_width'
              | 'spaced'
              | 'tag_letters'
              | 'role_play'
              | 'developer_mode'
              | 'no_refusal'
              | 'translation_table'
              | 'payload_splitting'
              | 'many_shot'
              | 'crescendo'
              | 'json_form'
              | 'story_frame'
              | 'adaptive'
            )[]
          | undefined
        repeats?: number | undefined
        limit?: number | undefined
        concurrency?: number | undefined
        requests_per_minute?: number | undefined
        alert?: boolean | undefined
      }
      seed: string
      budget_usd: number | null
      runner: 'worker' | 'cli'
      status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
      stopped_by: 'budget' | 'no_price' | null
      problem: string | null
      planned_count: number | null
      sent_count: number
      total_probes: number
      pass_count: number
      fail_count: number
      unscored_count: number
      critical_count: number
      cost_usd: number | null
      created_at: string
      started_at: string | null
      finished_at: string | null
      duration_seconds: number | null
    }
  }
  'GET /api/redteam-runs/{id}/attempts': {
    params: { id: string }
    query: {
      project_id?: string | undefined
      verdict?: 'pass' | 'fail' | 'unscored' | undefined
      category?: string | undefined
      probe_id?: string | undefined
      transformation?:
        | 'plain'
        | 'base64'
        | 'hex'
        | 'rot13'
        | 'backwards'
        | 'leetspeak'
        | 'look_alikes'
        | 'zero_width'
        | 'full_width'
        | 'spaced'
        | 'tag_letters'
        | 'role_play'
        | 'developer_mode'
        | 'no_refusal'
        | 'translation_table'
        | 'payload_splitting'
        | 'many_shot'
        | 'crescendo'
        | 'json_form'
        | 'story_frame'
        | 'adaptive'
        | undefined
      after?: string | undefined
      limit?: string | undefined
    }
    body: undefined
    answer: {
      items: {
        number: number
        request_id: string
        probe_id: string
        category: string
        scorer: string
        judged_by: string[]
        transformation:
          | 'plain'
          | 'base64'
          | 'hex'
          | 'rot13'
          | 'backwards'
          | 'leetspeak'
          | 'look_alikes'
          | 'zero_width'
          | 'full_width'
          | 'spaced'
          | 'tag_letters'
          | 'role_play'
          | 'developer_mode'
          | 'no_refusal'
          | 'translation_table'
          | 'payload_splitting'
          | 'many_shot'
          | 'crescendo'
          | 'json_form'
          | 'story_frame'
          | 'adaptive'
        repeat: number
        state: 'planned' | 'sending' | 'recorded' | 'judged' | 'skipped'
        verdict: 'pass' | 'fail' | 'unscored' | null
        severity: 'medium' | 'high' | 'critical' | null
        failed_by: string[] | null
        found_in: string | null
        detected: boolean | null
        reason: string | null
        status_code: number | null
        latency_ms: number | null
        cost_usd: number | null
      }[]
      next_after: number | null
    }
  }
  'POST /api/redteam-runs/{id}/cancel': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      project_id: string
      agent_name: string
      target:
        | { kind: 'chat'; url: string; model?: string | undefined }
        | {
            kind: 'http'
            url: string
            headers?: Record<string, string> | undefined
            body: string
            answer: string
          }
        | { kind: 'command' }
        | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
      options: {
        probes?: string[] | undefined
        transformations?:
          | (
              | 'plain'
              | 'base64'
              | 'hex'
              | 'rot13'
              | 'backwards'
              | 'leetspeak'
              | 'look_alikes'
              | 'zero_width'
              | 'full_width'
              | 'spaced'
              | 'tag_letters'
              | 'role_play'
              | 'developer_mode'
              | 'no_refusal'
              | 'translation_table'
              | 'payload_splitting'
              | 'many_shot'
              | 'crescendo'
              | 'json_form'
              | 'story_frame'
              | 'adaptive'
            )[]
          | undefined
        repeats?: number | undefined
        limit?: number | undefined
        concurrency?: number | undefined
        requests_per_minute?: number | undefined
        alert?: boolean | undefined
      }
      seed: string
      budget_usd: number | null
      runner: 'worker' | 'cli'
      status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
      stopped_by: 'budget' | 'no_price' | null
      problem: string | null
      planned_count: number | null
      sent_count: number
      total_probes: number
      pass_count: number
      fail_count: number
      unscored_count: number
      critical_count: number
      cost_usd: number | null
      created_at: string
      started_at: string | null
      finished_at: string | null
      duration_seconds: number | null
    }
  }
  'GET /api/redteam-runs/{id}/diff': {
    params: { id: string }
    query: { project_id?: string | undefined; against?: string | undefined }
    body: undefined
    answer: {
      run_id: string
      against: string | null
      categories: {
        category: string
        before: {
          total: number
          pass_count: number
          fail_count: number
          unscored_count: number
          critical_count: number
          detected_count: number
          fail_rate: number | null
          fail_rate_low: number | null
          fail_rate_high: number | null
        } | null
        after: {
          total: number
          pass_count: number
          fail_count: number
          unscored_count: number
          critical_count: number
          detected_count: number
          fail_rate: number | null
          fail_rate_low: number | null
          fail_rate_high: number | null
        } | null
        change: number | null
      }[]
      probes: {
        probe_id: string
        category: string
        before: {
          total: number
          pass_count: number
          fail_count: number
          unscored_count: number
          critical_count: number
          detected_count: number
          fail_rate: number | null
          fail_rate_low: number | null
          fail_rate_high: number | null
        } | null
        after: {
          total: number
          pass_count: number
          fail_count: number
          unscored_count: number
          critical_count: number
          detected_count: number
          fail_rate: number | null
          fail_rate_low: number | null
          fail_rate_high: number | null
        } | null
        change: number | null
      }[]
    }
  }
  'GET /api/redteam-runs/{id}/report': {
    params: { id: string }
    query: { project_id?: string | undefined; format?: 'json' | 'html' | 'junit' | 'garak' | undefined }
    body: undefined
    answer: {
      run: {
        id: string
        project_id: string
        agent_name: string
        target:
          | { kind: 'chat'; url: string; model?: string | undefined }
          | {
              kind: 'http'
              url: string
              headers?: Record<string, string> | undefined
              body: string
              answer: string
            }
          | { kind: 'command' }
          | { kind: 'recorded'; format: 'garak' | 'promptfoo' }
        options: {
          probes?: string[] | undefined
          transformations?:
            | (
                | 'plain'
                | 'base64'
                | 'hex'
                | 'rot13'
                | 'backwards'
                | 'leetspeak'
                | 'look_alikes'
                | 'zero_width'
                | 'full_width'
                | 'spaced'
                | 'tag_letters'
                | 'role_play'
                | 'developer_mode'
                | 'no_refusal'
                | 'translation_table'
                | 'payload_splitting'
                | 'many_shot'
                | 'crescendo'
                | 'json_form'
                | 'story_frame'
                | 'adaptive'
              )[]
            | undefined
          repeats?: number | undefined
          limit?: number | undefined
          concurrency?: number | undefined
          requests_per_minute?: number | undefined
          alert?: boolean | undefined
        }
        seed: string
        budget_usd: number | null
        runner: 'worker' | 'cli'
        status: 'queued' | 'running' | 'scoring' | 'done' | 'cancelled' | 'failed'
        stopped_by: 'budget' | 'no_price' | null
        problem: string | null
        planned_count: number | null
        sent_count: number
        total_probes: number
        pass_count: number
        fail_count: number
        unscored_count: number
        critical_count: number
        cost_usd: number | null
        created_at: string
        started_at: string | null
        finished_at: string | null
        duration_seconds: number | null
      }
      report_url: string
      totals: {
        total: number
        pass_count: number
        fail_count: number
        unscored_count: number
        critical_count: number
        detected_count: number
        fail_rate: number | null
        fail_rate_low: number | null
        fail_rate_high: number | null
      }
      categories: {
        category: string
        title: string | null
        total: number
        pass_count: number
        fail_count: number
        unscored_count: number
        critical_count: number
        detected_count: number
        fail_rate: number | null
        fail_rate_low: number | null
        fail_rate_high: number | null
      }[]
      transformations: {
        transformation: string
        total: number
        pass_count: number
        fail_count: number
        unscored_count: number
        critical_count: number
        detected_count: number
        fail_rate: number | null
        fail_rate_low: number | null
        fail_rate_high: number | null
      }[]
      probes: {
        probe_id: string
        category: string
        total: number
        pass_count: number
        fail_count: number
        unscored_count: number
        critical_count: number
        detected_count: number
        fail_rate: number | null
        fail_rate_low: number | null
        fail_rate_high: number | null
      }[]
    }
  }
  'GET /api/requests': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      model?: string | undefined
      provider?: string | undefined
      agent_name?: string | undefined
      agent_tag?: string | undefined
      session_id?: string | undefined
      user_id?: string | undefined
      type?: string | undefined
      tool_name?: string | undefined
      label?: 'safe' | 'unsafe' | 'unscored' | 'pending' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      verdict?: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | undefined
      scorer_name?: string | undefined
      status?: 'failed' | '4xx' | '5xx' | 'aborted' | undefined
      review?: 'false_alarm' | 'confirmed' | 'missed' | 'unreviewed' | undefined
      'model.not'?: string | undefined
      'model.contains'?: string | undefined
      'model.prefix'?: string | undefined
      'provider.not'?: string | undefined
      'provider.contains'?: string | undefined
      'provider.prefix'?: string | undefined
      'agent_name.not'?: string | undefined
      'agent_name.contains'?: string | undefined
      'agent_name.prefix'?: string | undefined
      'agent_tag.not'?: string | undefined
      'agent_tag.contains'?: string | undefined
      'agent_tag.prefix'?: string | undefined
      'session_id.not'?: string | undefined
      'session_id.contains'?: string | undefined
      'session_id.prefix'?: string | undefined
      'user_id.not'?: string | undefined
      'user_id.contains'?: string | undefined
      'user_id.prefix'?: string | undefined
      'type.not'?: string | undefined
      'type.contains'?: string | undefined
      'type.prefix'?: string | undefined
      'tool_name.not'?: string | undefined
      'tool_name.contains'?: string | undefined
      'tool_name.prefix'?: string | undefined
      'latency_ms.gt'?: string | undefined
      'latency_ms.lt'?: string | undefined
      'time_to_first_token_ms.gt'?: string | undefined
      'time_to_first_token_ms.lt'?: string | undefined
      'cost_usd.gt'?: string | undefined
      'cost_usd.lt'?: string | undefined
      'prompt_tokens.gt'?: string | undefined
      'prompt_tokens.lt'?: string | undefined
      'completion_tokens.gt'?: string | undefined
      'completion_tokens.lt'?: string | undefined
      'status_code.gt'?: string | undefined
      'status_code.lt'?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            created_at: string
            source: string
            model: string
            provider: string | null
            agent_name: string | null
            agent_tag: string | null
            session_id: string | null
            user_id: string | null
            type: string | null
            tool_name: string | null
            prompt_tokens: number | null
            completion_tokens: number | null
            cached_tokens: number | null
            reasoning_tokens: number | null
            cost_usd: number | null
            latency_ms: number | null
            time_to_first_token_ms: number | null
            status_code: number | null
            error: string | null
            aborted_by: string | null
            metadata: Record<string, unknown> | null
            zero_content_retention: boolean
            worst_label: 'safe' | 'unsafe' | 'unscored' | null
            worst_severity: 'medium' | 'high' | 'critical' | null
            score_count: number
            verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
            coverage: { decided: number; applicable: number; total: number } | null
            unread_scorers: string[]
            scorer_label?: 'safe' | 'unsafe' | 'unscored' | undefined
            scorer_severity?: 'medium' | 'high' | 'critical' | null | undefined
            scorer_value?: number | null | undefined
            preview: { prompt: string | null; answer: string | null } | null
            unsafe_scores: {
              scorer_name: string
              severity: 'medium' | 'high' | 'critical' | null
              kind: string | null
              is_suppressed: boolean
              expected_label: 'safe' | 'unsafe' | null
            }[]
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            created_at: string
            source: string
            model: string
            provider: string | null
            agent_name: string | null
            agent_tag: string | null
            session_id: string | null
            user_id: string | null
            type: string | null
            tool_name: string | null
            prompt_tokens: number | null
            completion_tokens: number | null
            cached_tokens: number | null
            reasoning_tokens: number | null
            cost_usd: number | null
            latency_ms: number | null
            time_to_first_token_ms: number | null
            status_code: number | null
            error: string | null
            aborted_by: string | null
            metadata: Record<string, unknown> | null
            zero_content_retention: boolean
            worst_label: 'safe' | 'unsafe' | 'unscored' | null
            worst_severity: 'medium' | 'high' | 'critical' | null
            score_count: number
            verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
            coverage: { decided: number; applicable: number; total: number } | null
            unread_scorers: string[]
            scorer_label?: 'safe' | 'unsafe' | 'unscored' | undefined
            scorer_severity?: 'medium' | 'high' | 'critical' | null | undefined
            scorer_value?: number | null | undefined
            preview: { prompt: string | null; answer: string | null } | null
            unsafe_scores: {
              scorer_name: string
              severity: 'medium' | 'high' | 'critical' | null
              kind: string | null
              is_suppressed: boolean
              expected_label: 'safe' | 'unsafe' | null
            }[]
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/requests/export': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      model?: string | undefined
      provider?: string | undefined
      agent_name?: string | undefined
      agent_tag?: string | undefined
      session_id?: string | undefined
      user_id?: string | undefined
      type?: string | undefined
      tool_name?: string | undefined
      label?: 'safe' | 'unsafe' | 'unscored' | 'pending' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      verdict?: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | undefined
      scorer_name?: string | undefined
      status?: 'failed' | '4xx' | '5xx' | 'aborted' | undefined
      review?: 'false_alarm' | 'confirmed' | 'missed' | 'unreviewed' | undefined
      'model.not'?: string | undefined
      'model.contains'?: string | undefined
      'model.prefix'?: string | undefined
      'provider.not'?: string | undefined
      'provider.contains'?: string | undefined
      'provider.prefix'?: string | undefined
      'agent_name.not'?: string | undefined
      'agent_name.contains'?: string | undefined
      'agent_name.prefix'?: string | undefined
      'agent_tag.not'?: string | undefined
      'agent_tag.contains'?: string | undefined
      'agent_tag.prefix'?: string | undefined
      'session_id.not'?: string | undefined
      'session_id.contains'?: string | undefined
      'session_id.prefix'?: string | undefined
      'user_id.not'?: string | undefined
      'user_id.contains'?: string | undefined
      'user_id.prefix'?: string | undefined
      'type.not'?: string | undefined
      'type.contains'?: string | undefined
      'type.prefix'?: string | undefined
      'tool_name.not'?: string | undefined
      'tool_name.contains'?: string | undefined
      'tool_name.prefix'?: string | undefined
      'latency_ms.gt'?: string | undefined
      'latency_ms.lt'?: string | undefined
      'time_to_first_token_ms.gt'?: string | undefined
      'time_to_first_token_ms.lt'?: string | undefined
      'cost_usd.gt'?: string | undefined
      'cost_usd.lt'?: string | undefined
      'prompt_tokens.gt'?: string | undefined
      'prompt_tokens.lt'?: string | undefined
      'completion_tokens.gt'?: string | undefined
      'completion_tokens.lt'?: string | undefined
      'status_code.gt'?: string | undefined
      'status_code.lt'?: string | undefined
      start?: string | undefined
      end?: string | undefined
      format?: 'csv' | 'jsonl' | undefined
    }
    body: undefined
    answer: string
  }
  'GET /api/requests/facets': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      model?: string | undefined
      provider?: string | undefined
      agent_name?: string | undefined
      agent_tag?: string | undefined
      session_id?: string | undefined
      user_id?: string | undefined
      type?: string | undefined
      tool_name?: string | undefined
      label?: 'safe' | 'unsafe' | 'unscored' | 'pending' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      verdict?: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | undefined
      scorer_name?: string | undefined
      status?: 'failed' | '4xx' | '5xx' | 'aborted' | undefined
      review?: 'false_alarm' | 'confirmed' | 'missed' | 'unreviewed' | undefined
      'model.not'?: string | undefined
      'model.contains'?: string | undefined
      'model.prefix'?: string | undefined
      'provider.not'?: string | undefined
      'provider.contains'?: string | undefined
      'provider.prefix'?: string | undefined
      'agent_name.not'?: string | undefined
      'agent_name.contains'?: string | undefined
      'agent_name.prefix'?: string | undefined
      'agent_tag.not'?: string | undefined
      'agent_tag.contains'?: string | undefined
      'agent_tag.prefix'?: string | undefined
      'session_id.not'?: string | undefined
      'session_id.contains'?: string | undefined
      'session_id.prefix'?: string | undefined
      'user_id.not'?: string | undefined
      'user_id.contains'?: string | undefined
      'user_id.prefix'?: string | undefined
      'type.not'?: string | undefined
      'type.contains'?: string | undefined
      'type.prefix'?: string | undefined
      'tool_name.not'?: string | undefined
      'tool_name.contains'?: string | undefined
      'tool_name.prefix'?: string | undefined
      'latency_ms.gt'?: string | undefined
      'latency_ms.lt'?: string | undefined
      'time_to_first_token_ms.gt'?: string | undefined
      'time_to_first_token_ms.lt'?: string | undefined
      'cost_usd.gt'?: string | undefined
      'cost_usd.lt'?: string | undefined
      'prompt_tokens.gt'?: string | undefined
      'prompt_tokens.lt'?: string | undefined
      'completion_tokens.gt'?: string | undefined
      'completion_tokens.lt'?: string | undefined
      'status_code.gt'?: string | undefined
      'status_code.lt'?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer: {
      project_id: string
      start: string
      end: string
      calls: number
      model: { value: string; count: number }[]
      provider: { value: string; count: number }[]
      agent_name: { value: string; count: number }[]
      source: { value: string; count: number }[]
      tool_name: { value: string; count: number }[]
      scorer_name: { value: string; count: number }[]
      label: { value: string; count: number }[]
      severity: { value: string; count: number }[]
      verdict: { value: string; count: number }[]
      review: { value: string; count: number }[]
      status: { value: string; count: number }[]
      counts_are_exact?: false | undefined
      scores_are_exact?: false | undefined
    }
  }
  'POST /api/requests/search': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      model?: string | undefined
      provider?: string | undefined
      agent_name?: string | undefined
      agent_tag?: string | undefined
      session_id?: string | undefined
      user_id?: string | undefined
      type?: string | undefined
      tool_name?: string | undefined
      label?: 'safe' | 'unsafe' | 'unscored' | 'pending' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      verdict?: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | undefined
      scorer_name?: string | undefined
      status?: 'failed' | '4xx' | '5xx' | 'aborted' | undefined
      review?: 'false_alarm' | 'confirmed' | 'missed' | 'unreviewed' | undefined
      'model.not'?: string | undefined
      'model.contains'?: string | undefined
      'model.prefix'?: string | undefined
      'provider.not'?: string | undefined
      'provider.contains'?: string | undefined
      'provider.prefix'?: string | undefined
      'agent_name.not'?: string | undefined
      'agent_name.contains'?: string | undefined
      'agent_name.prefix'?: string | undefined
      'agent_tag.not'?: string | undefined
      'agent_tag.contains'?: string | undefined
      'agent_tag.prefix'?: string | undefined
      'session_id.not'?: string | undefined
      'session_id.contains'?: string | undefined
      'session_id.prefix'?: string | undefined
      'user_id.not'?: string | undefined
      'user_id.contains'?: string | undefined
      'user_id.prefix'?: string | undefined
      'type.not'?: string | undefined
      'type.contains'?: string | undefined
      'type.prefix'?: string | undefined
      'tool_name.not'?: string | undefined
      'tool_name.contains'?: string | undefined
      'tool_name.prefix'?: string | undefined
      'latency_ms.gt'?: string | undefined
      'latency_ms.lt'?: string | undefined
      'time_to_first_token_ms.gt'?: string | undefined
      'time_to_first_token_ms.lt'?: string | undefined
      'cost_usd.gt'?: string | undefined
      'cost_usd.lt'?: string | undefined
      'prompt_tokens.gt'?: string | undefined
      'prompt_tokens.lt'?: string | undefined
      'completion_tokens.gt'?: string | undefined
      'completion_tokens.lt'?: string | undefined
      'status_code.gt'?: string | undefined
      'status_code.lt'?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: { text: string; limit?: number | undefined; after?: string | undefined }
    answer:
      | {
          type: 'progress'
          looked_at: number
          opened: number
          unsigned: number
          unreadable: number
          reached: string
          share: number
        }
      | {
          type: 'match'
          request: {
            id: string
            project_id: string
            created_at: string
            source: string
            model: string
            provider: string | null
            agent_name: string | null
            agent_tag: string | null
            session_id: string | null
            user_id: string | null
            type: string | null
            tool_name: string | null
            prompt_tokens: number | null
            completion_tokens: number | null
            cached_tokens: number | null
            reasoning_tokens: number | null
            cost_usd: number | null
            latency_ms: number | null
            time_to_first_token_ms: number | null
            status_code: number | null
            error: string | null
            aborted_by: string | null
            metadata: Record<string, unknown> | null
            zero_content_retention: boolean
            worst_label: 'safe' | 'unsafe' | 'unscored' | null
            worst_severity: 'medium' | 'high' | 'critical' | null
            score_count: number
            verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
            coverage: { decided: number; applicable: number; total: number } | null
            unread_scorers: string[]
          }
          excerpts: { part: 'request' | 'response'; text: string; marks: { start: number; end: number }[] }[]
        }
      | {
          type: 'end'
          reason: 'complete' | 'limit' | 'time'
          after: string | null
          looked_at: number
          opened: number
          unsigned: number
          unreadable: number
          reached: string
          share: number
        }
  }
  'GET /api/requests/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      created_at: string
      source: string
      model: string
      provider: string | null
      agent_name: string | null
      agent_tag: string | null
      session_id: string | null
      user_id: string | null
      type: string | null
      tool_name: string | null
      prompt_tokens: number | null
      completion_tokens: number | null
      cached_tokens: number | null
      reasoning_tokens: number | null
      cost_usd: number | null
      latency_ms: number | null
      time_to_first_token_ms: number | null
      status_code: number | null
      error: string | null
      aborted_by: string | null
      metadata: Record<string, unknown> | null
      zero_content_retention: boolean
      worst_label: 'safe' | 'unsafe' | 'unscored' | null
      worst_severity: 'medium' | 'high' | 'critical' | null
      score_count: number
      verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
      coverage: { decided: number; applicable: number; total: number } | null
      unread_scorers: string[]
      request_body: Record<string, unknown> | null
      response_body: Record<string, unknown> | null
      bodies_erased: boolean
      bodies_withheld: boolean
      previous_in_session: string | null
      next_in_session: string | null
      safety_scores: {
        id: string
        project_id: string
        request_id: string
        run_id: string
        scorer_name: string
        score_value: number | null
        score_label: 'safe' | 'unsafe' | 'unscored'
        severity: 'medium' | 'high' | 'critical' | null
        method: 'detector' | 'judge' | 'custom'
        scorer_version: string
        owasp_category: string | null
        reason: string | null
        unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
        created_at: string
        suppressed_by: string | null
        found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
        rationale: string | null
        evidence?: unknown | undefined
        judge: {
          model: string
          rubric: string
          cost_usd?: number | null | undefined
          prompt_tokens?: number | null | undefined
          completion_tokens?: number | null | undefined
          asked_together?: number | null | undefined
          latency_ms?: number | null | undefined
          failed?: string | null | undefined
        } | null
      }[]
    }
  }
  'GET /api/requests/{id}/deliveries': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      items: {
        id: string
        webhook_id: string
        event_id: string
        event:
          | 'threat_detected'
          | 'usage_alert'
          | 'redteam_complete'
          | 'finding_opened'
          | 'finding_reopened'
          | 'finding_acknowledged'
          | 'finding_resolved'
          | 'alert_fired'
          | 'alert_recovered'
          | 'new_tool_detected'
          | 'tool_definition_changed'
        status: 'pending' | 'retrying' | 'delivered' | 'failed'
        attempt_count: number
        can_be_replayed: boolean
        created_at: string
        delivered_at: string | null
        webhook_host: string
        scorer_name: string
        error: string | null
      }[]
    }
  }
  'POST /api/reviews': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      request_id: string
      scorer_name: string
      agrees: boolean
      expected_label?: 'safe' | 'unsafe' | undefined
      reviewer?: string | undefined
      reason?: string | undefined
    }
    answer: {
      id: string
      project_id: string
      request_id: string
      score_id: string
      scorer_name: string
      scorer_version: string
      score_label: 'safe' | 'unsafe' | 'unscored'
      expected_label: 'safe' | 'unsafe'
      agrees: boolean
      reviewer: string
      reviewer_kind: 'person' | 'key' | 'operator'
      reason: string | null
      created_at: string
    }
  }
  'GET /api/reviews': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      request_id?: string | undefined
      scorer_name?: string | undefined
      reviewer?: string | undefined
      agrees?: 'true' | 'false' | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            request_id: string
            score_id: string
            scorer_name: string
            scorer_version: string
            score_label: 'safe' | 'unsafe' | 'unscored'
            expected_label: 'safe' | 'unsafe'
            agrees: boolean
            reviewer: string
            reviewer_kind: 'person' | 'key' | 'operator'
            reason: string | null
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            request_id: string
            score_id: string
            scorer_name: string
            scorer_version: string
            score_label: 'safe' | 'unsafe' | 'unscored'
            expected_label: 'safe' | 'unsafe'
            agrees: boolean
            reviewer: string
            reviewer_kind: 'person' | 'key' | 'operator'
            reason: string | null
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/reviews/agreement': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      request_id?: string | undefined
      scorer_name?: string | undefined
      reviewer?: string | undefined
      agrees?: 'true' | 'false' | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer: {
      scorers: {
        scorer_name: string
        reviews: number
        agreed: number
        disagreed: number
        false_alarms: number
        missed: number
      }[]
    }
  }
  'GET /api/reviews/export': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      request_id?: string | undefined
      scorer_name?: string | undefined
      reviewer?: string | undefined
      agrees?: 'true' | 'false' | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer: string
  }
  'GET /api/safety-scores': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      request_id?: string | undefined
      scorer_name?: string | undefined
      min_score?: string | undefined
      label?: 'safe' | 'unsafe' | 'unscored' | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      suppressed?: 'true' | 'false' | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      run_id?: string | undefined
      since?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            request_id: string
            run_id: string
            scorer_name: string
            score_value: number | null
            score_label: 'safe' | 'unsafe' | 'unscored'
            severity: 'medium' | 'high' | 'critical' | null
            method: 'detector' | 'judge' | 'custom'
            scorer_version: string
            owasp_category: string | null
            reason: string | null
            unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
            created_at: string
            suppressed_by: string | null
            found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
            rationale: string | null
            evidence?: unknown | undefined
            judge: {
              model: string
              rubric: string
              cost_usd?: number | null | undefined
              prompt_tokens?: number | null | undefined
              completion_tokens?: number | null | undefined
              asked_together?: number | null | undefined
              latency_ms?: number | null | undefined
              failed?: string | null | undefined
            } | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            request_id: string
            run_id: string
            scorer_name: string
            score_value: number | null
            score_label: 'safe' | 'unsafe' | 'unscored'
            severity: 'medium' | 'high' | 'critical' | null
            method: 'detector' | 'judge' | 'custom'
            scorer_version: string
            owasp_category: string | null
            reason: string | null
            unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
            created_at: string
            suppressed_by: string | null
            found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
            rationale: string | null
            evidence?: unknown | undefined
            judge: {
              model: string
              rubric: string
              cost_usd?: number | null | undefined
              prompt_tokens?: number | null | undefined
              completion_tokens?: number | null | undefined
              asked_together?: number | null | undefined
              latency_ms?: number | null | undefined
              failed?: string | null | undefined
            } | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
      | {
          items?:
            | {
                id: string
                project_id: string
                request_id: string
                run_id: string
                scorer_name: string
                score_value: number | null
                score_label: 'safe' | 'unsafe' | 'unscored'
                severity: 'medium' | 'high' | 'critical' | null
                method: 'detector' | 'judge' | 'custom'
                scorer_version: string
                owasp_category: string | null
                reason: string | null
                unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
                created_at: string
                suppressed_by: string | null
                found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
                rationale: string | null
                evidence?: unknown | undefined
                judge: {
                  model: string
                  rubric: string
                  cost_usd?: number | null | undefined
                  prompt_tokens?: number | null | undefined
                  completion_tokens?: number | null | undefined
                  asked_together?: number | null | undefined
                  latency_ms?: number | null | undefined
                  failed?: string | null | undefined
                } | null
              }[]
            | undefined
          data?:
            | {
                id: string
                project_id: string
                request_id: string
                run_id: string
                scorer_name: string
                score_value: number | null
                score_label: 'safe' | 'unsafe' | 'unscored'
                severity: 'medium' | 'high' | 'critical' | null
                method: 'detector' | 'judge' | 'custom'
                scorer_version: string
                owasp_category: string | null
                reason: string | null
                unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
                created_at: string
                suppressed_by: string | null
                found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
                rationale: string | null
                evidence?: unknown | undefined
                judge: {
                  model: string
                  rubric: string
                  cost_usd?: number | null | undefined
                  prompt_tokens?: number | null | undefined
                  completion_tokens?: number | null | undefined
                  asked_together?: number | null | undefined
                  latency_ms?: number | null | undefined
                  failed?: string | null | undefined
                } | null
              }[]
            | undefined
          next_since: string
          has_more: boolean
        }
  }
  'GET /api/safety-scores/summary': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      run_id?: string | undefined
    }
    body: undefined
    answer: {
      project_id: string
      start: string
      end: string
      scorers: {
        scorer_name: string | null
        total: number
        safe: number
        unsafe: number
        unscored: number
        average_score: number | null
        by_severity: { critical: number; high: number; medium: number }
      }[]
    }
  }
  'POST /api/score-runs': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      start: string
      end: string
      project_id?: string | undefined
      scorers?: string[] | undefined
      source?: 'postgres' | 'kafka' | undefined
      alert?: boolean | undefined
      dry_run?: boolean | undefined
    }
    answer: {
      run: {
        id: string
        project_id: string | null
        start: string
        end: string
        scorers: string[] | null
        source: 'postgres' | 'kafka'
        alert: boolean
        status: 'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
        calls_total: number
        calls_fed: number
        calls_scored: number
        problem: string | null
        created_at: string
        finished_at: string | null
      } | null
      calls: number
      calls_are_exact: boolean
      calls_without_bodies: number | null
      estimated_judge_usd: number | null
      problem: string | null
    }
  }
  'GET /api/score-runs': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      project_id?: string | undefined
      status?:
        | 'queued'
        | 'feeding'
        | 'scoring'
        | 'done'
        | 'cancelled'
        | 'failed'
        | 'promoting'
        | 'promoted'
        | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string | null
            start: string
            end: string
            scorers: string[] | null
            source: 'postgres' | 'kafka'
            alert: boolean
            status:
              'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
            calls_total: number
            calls_fed: number
            calls_scored: number
            problem: string | null
            created_at: string
            finished_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string | null
            start: string
            end: string
            scorers: string[] | null
            source: 'postgres' | 'kafka'
            alert: boolean
            status:
              'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
            calls_total: number
            calls_fed: number
            calls_scored: number
            problem: string | null
            created_at: string
            finished_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/score-runs/{id}': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      project_id: string | null
      start: string
      end: string
      scorers: string[] | null
      source: 'postgres' | 'kafka'
      alert: boolean
      status: 'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
      calls_total: number
      calls_fed: number
      calls_scored: number
      problem: string | null
      created_at: string
      finished_at: string | null
    }
  }
  'POST /api/score-runs/{id}/cancel': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      project_id: string | null
      start: string
      end: string
      scorers: string[] | null
      source: 'postgres' | 'kafka'
      alert: boolean
      status: 'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
      calls_total: number
      calls_fed: number
      calls_scored: number
      problem: string | null
      created_at: string
      finished_at: string | null
    }
  }
  'GET /api/score-runs/{id}/diff': {
    params: { id: string }
    query: { against?: string | undefined }
    body: undefined
    answer: {
      run_id: string
      against: string
      is_complete: boolean
      scorers: {
        scorer_name: string
        compared: number
        changed: number
        changes: {
          before: 'safe' | 'unsafe' | 'unscored' | null
          after: 'safe' | 'unsafe' | 'unscored'
          count: number
        }[]
        average_change: number | null
      }[]
      examples: {
        project_id: string
        request_id: string
        request_created_at: string
        preview: { prompt: string | null; answer: string | null } | null
        scorer_name: string
        before: { label: 'safe' | 'unsafe' | 'unscored' | null; value: number | null }
        after: { label: 'safe' | 'unsafe' | 'unscored'; value: number | null }
      }[]
    }
  }
  'POST /api/score-runs/{id}/promote': {
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: {
      id: string
      project_id: string | null
      start: string
      end: string
      scorers: string[] | null
      source: 'postgres' | 'kafka'
      alert: boolean
      status: 'queued' | 'feeding' | 'scoring' | 'done' | 'cancelled' | 'failed' | 'promoting' | 'promoted'
      calls_total: number
      calls_fed: number
      calls_scored: number
      problem: string | null
      created_at: string
      finished_at: string | null
    }
  }
  'GET /api/scorers': {
    params: Record<never, never>
    query: { project_id?: string | undefined; page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string | null
            name: string
            origin: 'built_in' | 'file' | 'project'
            kind: 'built_in' | 'file' | 'keyword_list' | 'regex' | 'criterion'
            description: string | null
            severity: string | null
            owasp_category: string | null
            version: string | null
            judge_version: string | null
            enabled: boolean
            blocked_by: 'off' | 'tier' | 'name_in_file' | 'no_judge' | null
            fail_at: number | null
            default_fail_at: number | null
            rescore_suggested: { from_version: string; to_version: string } | null
            updated_by: string | null
            updated_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string | null
            name: string
            origin: 'built_in' | 'file' | 'project'
            kind: 'built_in' | 'file' | 'keyword_list' | 'regex' | 'criterion'
            description: string | null
            severity: string | null
            owasp_category: string | null
            version: string | null
            judge_version: string | null
            enabled: boolean
            blocked_by: 'off' | 'tier' | 'name_in_file' | 'no_judge' | null
            fail_at: number | null
            default_fail_at: number | null
            rescore_suggested: { from_version: string; to_version: string } | null
            updated_by: string | null
            updated_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/scorers': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      name: string
      definition:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
      severity: 'medium' | 'high' | 'critical'
      description?: string | null | undefined
      owasp_category?:
        | 'LLM01'
        | 'LLM02'
        | 'LLM03'
        | 'LLM04'
        | 'LLM05'
        | 'LLM06'
        | 'LLM07'
        | 'LLM08'
        | 'LLM09'
        | 'LLM10'
        | null
        | undefined
      enabled?: boolean | undefined
    }
    answer: {
      id: string
      project_id: string
      name: string
      definition:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
      description: string | null
      severity: 'medium' | 'high' | 'critical'
      owasp_category:
        | 'LLM01'
        | 'LLM02'
        | 'LLM03'
        | 'LLM04'
        | 'LLM05'
        | 'LLM06'
        | 'LLM07'
        | 'LLM08'
        | 'LLM09'
        | 'LLM10'
        | null
      enabled: boolean
      version: number
      scorer_version: string
      created_by: string
      updated_by: string
      created_at: string
      updated_at: string
    }
  }
  'GET /api/scorers/calibration': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      scorer_name?: string | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer: {
      scorers: {
        scorer_name: string
        reviewed: number
        false_alarms: number
        missed: number
        precision: { rate: number; low: number; high: number } | null
        recall: { rate: number; low: number; high: number } | null
        suggested_threshold: {
          fail_at: number
          reviewed: number
          precision: { rate: number; low: number; high: number } | null
          recall: { rate: number; low: number; high: number } | null
        } | null
      }[]
    }
  }
  'POST /api/scorers/previews': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      scorer_id?: string | undefined
      definition?:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
        | undefined
      days?: number | undefined
      reviews_of?: string | undefined
    }
    answer: {
      id: string
      project_id: string
      status: 'queued' | 'running' | 'done' | 'failed'
      days: number
      reviews_of: string | null
      problem: string | null
      report: {
        planned: number
        calls: number
        hits: number
        unscored: number
        unreadable: number
        without_bodies: number
        stopped_by: 'time' | 'budget' | 'judge' | null
        cost_usd: number | null
        reviews: { calls: number; agreed: number; false_alarms: number; missed: number }
      } | null
      hits: {
        request_id: string
        created_at: string
        score_value: number | null
        rationale: string
        expected: 'safe' | 'unsafe' | null
        matches: { part: string; pointer: string | null; kind: string; text: string }[]
      }[]
      created_at: string
      finished_at: string | null
    }
  }
  'GET /api/scorers/previews/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      status: 'queued' | 'running' | 'done' | 'failed'
      days: number
      reviews_of: string | null
      problem: string | null
      report: {
        planned: number
        calls: number
        hits: number
        unscored: number
        unreadable: number
        without_bodies: number
        stopped_by: 'time' | 'budget' | 'judge' | null
        cost_usd: number | null
        reviews: { calls: number; agreed: number; false_alarms: number; missed: number }
      } | null
      hits: {
        request_id: string
        created_at: string
        score_value: number | null
        rationale: string
        expected: 'safe' | 'unsafe' | null
        matches: { part: string; pointer: string | null; kind: string; text: string }[]
      }[]
      created_at: string
      finished_at: string | null
    }
  }
  'GET /api/scorers/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      name: string
      definition:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
      description: string | null
      severity: 'medium' | 'high' | 'critical'
      owasp_category:
        | 'LLM01'
        | 'LLM02'
        | 'LLM03'
        | 'LLM04'
        | 'LLM05'
        | 'LLM06'
        | 'LLM07'
        | 'LLM08'
        | 'LLM09'
        | 'LLM10'
        | null
      enabled: boolean
      version: number
      scorer_version: string
      created_by: string
      updated_by: string
      created_at: string
      updated_at: string
    }
  }
  'PATCH /api/scorers/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      definition?:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
        | undefined
      description?: string | null | undefined
      severity?: 'medium' | 'high' | 'critical' | undefined
      owasp_category?:
        | 'LLM01'
        | 'LLM02'
        | 'LLM03'
        | 'LLM04'
        | 'LLM05'
        | 'LLM06'
        | 'LLM07'
        | 'LLM08'
        | 'LLM09'
        | 'LLM10'
        | null
        | undefined
      enabled?: boolean | undefined
    }
    answer: {
      id: string
      project_id: string
      name: string
      definition:
        | {
            kind: 'keyword_list'
            keywords: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'regex'
            patterns: string[]
            match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
          }
        | {
            kind: 'criterion'
            criterion: string
            unsafe_examples?: string[] | undefined
            safe_examples?: string[] | undefined
            looks_at?: ('request' | 'answer')[] | undefined
            sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
          }
      description: string | null
      severity: 'medium' | 'high' | 'critical'
      owasp_category:
        | 'LLM01'
        | 'LLM02'
        | 'LLM03'
        | 'LLM04'
        | 'LLM05'
        | 'LLM06'
        | 'LLM07'
        | 'LLM08'
        | 'LLM09'
        | 'LLM10'
        | null
      enabled: boolean
      version: number
      scorer_version: string
      created_by: string
      updated_by: string
      created_at: string
      updated_at: string
    }
  }
  'DELETE /api/scorers/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: unknown
  }
  'GET /api/scorers/{id}/versions': {
    params: { id: string }
    query: { project_id?: string | undefined; page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            version: number
            definition:
              | {
                  kind: 'keyword_list'
                  keywords: string[]
                  match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
                }
              | {
                  kind: 'regex'
                  patterns: string[]
                  match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
                }
              | {
                  kind: 'criterion'
                  criterion: string
                  unsafe_examples?: string[] | undefined
                  safe_examples?: string[] | undefined
                  looks_at?: ('request' | 'answer')[] | undefined
                  sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
                }
            description: string | null
            severity: 'medium' | 'high' | 'critical'
            owasp_category:
              | 'LLM01'
              | 'LLM02'
              | 'LLM03'
              | 'LLM04'
              | 'LLM05'
              | 'LLM06'
              | 'LLM07'
              | 'LLM08'
              | 'LLM09'
              | 'LLM10'
              | null
            created_by: string
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            version: number
            definition:
              | {
                  kind: 'keyword_list'
                  keywords: string[]
                  match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
                }
              | {
                  kind: 'regex'
                  patterns: string[]
                  match_on?: 'request_body' | 'response_body' | 'both' | 'tool_arguments' | undefined
                }
              | {
                  kind: 'criterion'
                  criterion: string
                  unsafe_examples?: string[] | undefined
                  safe_examples?: string[] | undefined
                  looks_at?: ('request' | 'answer')[] | undefined
                  sees?: ('system_prompt' | 'context' | 'tools')[] | undefined
                }
            description: string | null
            severity: 'medium' | 'high' | 'critical'
            owasp_category:
              | 'LLM01'
              | 'LLM02'
              | 'LLM03'
              | 'LLM04'
              | 'LLM05'
              | 'LLM06'
              | 'LLM07'
              | 'LLM08'
              | 'LLM09'
              | 'LLM10'
              | null
            created_by: string
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'PATCH /api/scorers/{name}/settings': {
    params: { name: string }
    query: { project_id?: string | undefined }
    body: { enabled?: boolean | undefined; fail_at?: number | null | undefined }
    answer: {
      id: string | null
      name: string
      origin: 'built_in' | 'file' | 'project'
      kind: 'built_in' | 'file' | 'keyword_list' | 'regex' | 'criterion'
      description: string | null
      severity: string | null
      owasp_category: string | null
      version: string | null
      judge_version: string | null
      enabled: boolean
      blocked_by: 'off' | 'tier' | 'name_in_file' | 'no_judge' | null
      fail_at: number | null
      default_fail_at: number | null
      rescore_suggested: { from_version: string; to_version: string } | null
      updated_by: string | null
      updated_at: string | null
    }
  }
  'GET /api/sessions': {
    params: Record<never, never>
    query: {
      page_size?: string | undefined
      cursor?: string | undefined
      limit?: string | undefined
      project_id?: string | undefined
      agent_name?: string | undefined
      user_id?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      start?: string | undefined
      end?: string | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            session_id: string
            started_at: string
            last_at: string
            calls: number
            tool_calls: number
            failed: number
            unsafe: number
            calls_are_exact: boolean
            agents: string[]
            models: string[]
            total_tokens: number
            cost_usd: number
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            session_id: string
            started_at: string
            last_at: string
            calls: number
            tool_calls: number
            failed: number
            unsafe: number
            calls_are_exact: boolean
            agents: string[]
            models: string[]
            total_tokens: number
            cost_usd: number
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/sessions/{id}': {
    params: { id: string }
    query: {
      page_size?: string | undefined
      cursor?: string | undefined
      limit?: string | undefined
      project_id?: string | undefined
    }
    body: undefined
    answer: {
      session_id: string
      started_at: string
      last_at: string
      calls: number
      tool_calls: number
      failed: number
      unsafe: number
      calls_are_exact: boolean
      agents: string[]
      models: string[]
      total_tokens: number
      cost_usd: number
      items?:
        | {
            id: string
            project_id: string
            created_at: string
            source: string
            model: string
            provider: string | null
            agent_name: string | null
            agent_tag: string | null
            session_id: string | null
            user_id: string | null
            type: string | null
            tool_name: string | null
            prompt_tokens: number | null
            completion_tokens: number | null
            cached_tokens: number | null
            reasoning_tokens: number | null
            cost_usd: number | null
            latency_ms: number | null
            time_to_first_token_ms: number | null
            status_code: number | null
            error: string | null
            aborted_by: string | null
            metadata: Record<string, unknown> | null
            zero_content_retention: boolean
            worst_label: 'safe' | 'unsafe' | 'unscored' | null
            worst_severity: 'medium' | 'high' | 'critical' | null
            score_count: number
            verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
            coverage: { decided: number; applicable: number; total: number } | null
            unread_scorers: string[]
            safety_scores: {
              id: string
              project_id: string
              request_id: string
              run_id: string
              scorer_name: string
              score_value: number | null
              score_label: 'safe' | 'unsafe' | 'unscored'
              severity: 'medium' | 'high' | 'critical' | null
              method: 'detector' | 'judge' | 'custom'
              scorer_version: string
              owasp_category: string | null
              reason: string | null
              unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
              created_at: string
              suppressed_by: string | null
              found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
              rationale: string | null
              evidence?: unknown | undefined
              judge: {
                model: string
                rubric: string
                cost_usd?: number | null | undefined
                prompt_tokens?: number | null | undefined
                completion_tokens?: number | null | undefined
                asked_together?: number | null | undefined
                latency_ms?: number | null | undefined
                failed?: string | null | undefined
              } | null
            }[]
          }[]
        | undefined
      data?:
        | {
            id: string
            project_id: string
            created_at: string
            source: string
            model: string
            provider: string | null
            agent_name: string | null
            agent_tag: string | null
            session_id: string | null
            user_id: string | null
            type: string | null
            tool_name: string | null
            prompt_tokens: number | null
            completion_tokens: number | null
            cached_tokens: number | null
            reasoning_tokens: number | null
            cost_usd: number | null
            latency_ms: number | null
            time_to_first_token_ms: number | null
            status_code: number | null
            error: string | null
            aborted_by: string | null
            metadata: Record<string, unknown> | null
            zero_content_retention: boolean
            worst_label: 'safe' | 'unsafe' | 'unscored' | null
            worst_severity: 'medium' | 'high' | 'critical' | null
            score_count: number
            verdict: 'unsafe' | 'partly_read' | 'not_read' | 'no_finding' | null
            coverage: { decided: number; applicable: number; total: number } | null
            unread_scorers: string[]
            safety_scores: {
              id: string
              project_id: string
              request_id: string
              run_id: string
              scorer_name: string
              score_value: number | null
              score_label: 'safe' | 'unsafe' | 'unscored'
              severity: 'medium' | 'high' | 'critical' | null
              method: 'detector' | 'judge' | 'custom'
              scorer_version: string
              owasp_category: string | null
              reason: string | null
              unscored_class: 'not_applicable' | 'undecided' | 'outside' | 'not_read' | null
              created_at: string
              suppressed_by: string | null
              found_values: { kind: string; tool: string | null; has_hash: boolean }[] | null
              rationale: string | null
              evidence?: unknown | undefined
              judge: {
                model: string
                rubric: string
                cost_usd?: number | null | undefined
                prompt_tokens?: number | null | undefined
                completion_tokens?: number | null | undefined
                asked_together?: number | null | undefined
                latency_ms?: number | null | undefined
                failed?: string | null | undefined
              } | null
            }[]
          }[]
        | undefined
      next_cursor?: string | null | undefined
      limit?: number | undefined
      has_more?: boolean | undefined
    }
  }
  'GET /api/stats': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      step?: string | undefined
      by?: 'model' | 'provider' | 'agent' | 'source' | 'scorer' | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
      model?: string | undefined
      provider?: string | undefined
      agent_name?: string | undefined
    }
    body: undefined
    answer: {
      project_id: string
      start: string
      end: string
      step_hours: number
      by: 'model' | 'provider' | 'agent' | 'source' | 'scorer' | null
      series: {
        name: string | null
        is_other: boolean
        total:
          | {
              calls: number
              failed: number
              aborted: number
              prompt_tokens: number
              completion_tokens: number
              cached_tokens: number
              reasoning_tokens: number
              priced: number
              cost_usd: number
              safe: number
              unsafe: number
              unscored: number
              no_finding: number
              partly_read: number
              not_read: number
              scores_decided: number
              scores_applicable: number
              critical: number
              high: number
              medium: number
              latency_p50_ms: number | null
              latency_p95_ms: number | null
              latency_p99_ms: number | null
            }
          | { scores: number; safe: number; unsafe: number; unscored: number; average_score: number | null }
        points: (
          | {
              calls: number
              failed: number
              aborted: number
              prompt_tokens: number
              completion_tokens: number
              cached_tokens: number
              reasoning_tokens: number
              priced: number
              cost_usd: number
              safe: number
              unsafe: number
              unscored: number
              no_finding: number
              partly_read: number
              not_read: number
              scores_decided: number
              scores_applicable: number
              critical: number
              high: number
              medium: number
              latency_p50_ms: number | null
              latency_p95_ms: number | null
              latency_p99_ms: number | null
              at: string
            }
          | {
              scores: number
              safe: number
              unsafe: number
              unscored: number
              average_score: number | null
              at: string
            }
        )[]
      }[]
    }
  }
  'GET /api/status': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      project_id: string
      findings: {
        severity: 'medium' | 'high' | 'critical'
        open: number
        last_day: number
        last_week: number
      }[]
      firing_rules: { id: string; name: string; status: 'warning' | 'alert'; since: string }[]
      failing_receivers: {
        id: string
        kind: string
        deliveries: number
        failed: number
        is_disabled: boolean
      }[]
      scoring: { waiting: number; oldest_at: string | null }
    }
  }
  'GET /api/status/projects': {
    params: Record<never, never>
    query: { project_id?: string | undefined; page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            project_id: string
            name: string
            critical: number
            high: number
            medium: number
            last_day: number
            firing_rules: number
            failing_receivers: number
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            project_id: string
            name: string
            critical: number
            high: number
            medium: number
            last_day: number
            firing_rules: number
            failing_receivers: number
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/suppressions': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      scorer_name: string
      kind?: string | undefined
      agent_name?: string | undefined
      tool_name?: string | undefined
      value?: string | undefined
      score_id?: string | undefined
      value_index?: number | undefined
      max_severity?: 'medium' | 'high' | 'critical' | undefined
      expires_at?: string | undefined
      reason: string
      author?: string | undefined
    }
    answer: {
      id: string
      project_id: string
      scorer_name: string
      kind: string | null
      agent_name: string | null
      tool_name: string | null
      has_value: boolean
      max_severity: 'medium' | 'high' | 'critical'
      reason: string | null
      author: string
      author_kind: 'person' | 'key' | 'operator'
      created_at: string
      expires_at: string | null
      revoked_at: string | null
      is_active: boolean
      covered: number
      last_covered_at: string | null
    }
  }
  'GET /api/suppressions': {
    params: Record<never, never>
    query: {
      project_id?: string | undefined
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      scorer_name?: string | undefined
      active?: 'true' | 'false' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            scorer_name: string
            kind: string | null
            agent_name: string | null
            tool_name: string | null
            has_value: boolean
            max_severity: 'medium' | 'high' | 'critical'
            reason: string | null
            author: string
            author_kind: 'person' | 'key' | 'operator'
            created_at: string
            expires_at: string | null
            revoked_at: string | null
            is_active: boolean
            covered: number
            last_covered_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            scorer_name: string
            kind: string | null
            agent_name: string | null
            tool_name: string | null
            has_value: boolean
            max_severity: 'medium' | 'high' | 'critical'
            reason: string | null
            author: string
            author_kind: 'person' | 'key' | 'operator'
            created_at: string
            expires_at: string | null
            revoked_at: string | null
            is_active: boolean
            covered: number
            last_covered_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/suppressions/preview': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      scorer_name: string
      kind?: string | undefined
      agent_name?: string | undefined
      tool_name?: string | undefined
      value?: string | undefined
      score_id?: string | undefined
      value_index?: number | undefined
      max_severity?: 'medium' | 'high' | 'critical' | undefined
      expires_at?: string | undefined
    }
    answer: {
      start: string
      examined: number
      is_complete: boolean
      covered: number
      scorers: { scorer_name: string; covered: number }[]
      sample_request_ids: string[]
    }
  }
  'GET /api/suppressions/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      scorer_name: string
      kind: string | null
      agent_name: string | null
      tool_name: string | null
      has_value: boolean
      max_severity: 'medium' | 'high' | 'critical'
      reason: string | null
      author: string
      author_kind: 'person' | 'key' | 'operator'
      created_at: string
      expires_at: string | null
      revoked_at: string | null
      is_active: boolean
      covered: number
      last_covered_at: string | null
    }
  }
  'POST /api/suppressions/{id}/revoke': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      scorer_name: string
      kind: string | null
      agent_name: string | null
      tool_name: string | null
      has_value: boolean
      max_severity: 'medium' | 'high' | 'critical'
      reason: string | null
      author: string
      author_kind: 'person' | 'key' | 'operator'
      created_at: string
      expires_at: string | null
      revoked_at: string | null
      is_active: boolean
      covered: number
      last_covered_at: string | null
    }
  }
  'GET /api/tools': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      agent_name?: string | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            tool_name: string
            first_seen_at: string | null
            last_seen_at: string
            calls: number
            failed: number
            requested: number
            agent_count: number
            agents: string[]
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            tool_name: string
            first_seen_at: string | null
            last_seen_at: string
            calls: number
            failed: number
            requested: number
            agent_count: number
            agents: string[]
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/users': {
    params: Record<never, never>
    query: {
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      project_id?: string | undefined
      start?: string | undefined
      end?: string | undefined
      user_id?: string | undefined
      order?: 'cost' | 'calls' | 'unsafe' | 'last_seen' | undefined
      source?: string | undefined
      include_redteam?: 'true' | 'false' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            user_id: string
            last_seen_at: string
            calls: number
            failed: number
            unsafe: number
            tokens: number
            priced: number
            cost_usd: number
            sessions: number
            sessions_are_exact: boolean
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            user_id: string
            last_seen_at: string
            calls: number
            failed: number
            unsafe: number
            tokens: number
            priced: number
            cost_usd: number
            sessions: number
            sessions_are_exact: boolean
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/v1/destinations': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      settings?: Record<string, unknown> | undefined
      credentials?: Record<string, unknown> | undefined
      events?:
        | (
            | 'threat_detected'
            | 'usage_alert'
            | 'redteam_complete'
            | 'finding_opened'
            | 'finding_reopened'
            | 'finding_acknowledged'
            | 'finding_resolved'
            | 'alert_fired'
            | 'alert_recovered'
          )[]
        | undefined
      filters?:
        | { severity?: ('medium' | 'high' | 'critical')[] | undefined; scorer_name?: string[] | undefined }
        | undefined
      filter_expression?: string | null | undefined
      enabled?: boolean | undefined
      include_text?: boolean | undefined
      max_per_minute?: number | null | undefined
      kind: 'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
    }
    answer: {
      id: string
      project_id: string
      kind: 'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
      url: string
      settings: Record<string, unknown>
      has_credentials: boolean
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      include_text: boolean
      max_per_minute: number | null
      filter_expression_error: { message: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
    }
  }
  'GET /api/v1/destinations': {
    params: Record<never, never>
    query: { project_id?: string | undefined; page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            kind:
              'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
            url: string
            settings: Record<string, unknown>
            has_credentials: boolean
            events: (
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
            )[]
            filters: {
              severity?: ('medium' | 'high' | 'critical')[] | undefined
              scorer_name?: string[] | undefined
            }
            filter_expression: string | null
            enabled: boolean
            include_text: boolean
            max_per_minute: number | null
            filter_expression_error: { message: string; at: string } | null
            last_result: {
              status: 'retrying' | 'delivered' | 'failed'
              at: string
              status_code: number | null
              error: string | null
            } | null
            last_day: { deliveries: number; failed: number; failure_share: number | null }
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            kind:
              'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
            url: string
            settings: Record<string, unknown>
            has_credentials: boolean
            events: (
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
            )[]
            filters: {
              severity?: ('medium' | 'high' | 'critical')[] | undefined
              scorer_name?: string[] | undefined
            }
            filter_expression: string | null
            enabled: boolean
            include_text: boolean
            max_per_minute: number | null
            filter_expression_error: { message: string; at: string } | null
            last_result: {
              status: 'retrying' | 'delivered' | 'failed'
              at: string
              status_code: number | null
              error: string | null
            } | null
            last_day: { deliveries: number; failed: number; failure_share: number | null }
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'GET /api/v1/destinations/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      kind: 'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
      url: string
      settings: Record<string, unknown>
      has_credentials: boolean
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      include_text: boolean
      max_per_minute: number | null
      filter_expression_error: { message: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
    }
  }
  'PATCH /api/v1/destinations/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      settings?: Record<string, unknown> | undefined
      credentials?: Record<string, unknown> | undefined
      events?:
        | (
            | 'threat_detected'
            | 'usage_alert'
            | 'redteam_complete'
            | 'finding_opened'
            | 'finding_reopened'
            | 'finding_acknowledged'
            | 'finding_resolved'
            | 'alert_fired'
            | 'alert_recovered'
          )[]
        | undefined
      filters?:
        | { severity?: ('medium' | 'high' | 'critical')[] | undefined; scorer_name?: string[] | undefined }
        | undefined
      filter_expression?: string | null | undefined
      enabled?: boolean | undefined
      include_text?: boolean | undefined
      max_per_minute?: number | null | undefined
    }
    answer: {
      id: string
      project_id: string
      kind: 'slack' | 'teams' | 'pagerduty' | 'jira' | 'email' | 'splunk_hec' | 'json' | 'ocsf' | 'syslog'
      url: string
      settings: Record<string, unknown>
      has_credentials: boolean
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      include_text: boolean
      max_per_minute: number | null
      filter_expression_error: { message: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
    }
  }
  'DELETE /api/v1/destinations/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: unknown
  }
  'POST /api/v1/webhooks': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: {
      url: string
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters?:
        | { severity?: ('medium' | 'high' | 'critical')[] | undefined; scorer_name?: string[] | undefined }
        | undefined
      filter_expression?: string | null | undefined
      enabled?: boolean | undefined
      disable_after_hours?: number | null | undefined
    }
    answer: {
      id: string
      project_id: string
      url: string
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      disable_after_hours: number | null
      filter_expression_error: { message: string; at: string } | null
      disabled_by_failures: { reason: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
      secret: string
    }
  }
  'GET /api/v1/webhooks': {
    params: Record<never, never>
    query: { project_id?: string | undefined; page?: string | undefined; page_size?: string | undefined }
    body: undefined
    answer:
      | {
          items: {
            id: string
            project_id: string
            url: string
            events: (
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
            )[]
            filters: {
              severity?: ('medium' | 'high' | 'critical')[] | undefined
              scorer_name?: string[] | undefined
            }
            filter_expression: string | null
            enabled: boolean
            disable_after_hours: number | null
            filter_expression_error: { message: string; at: string } | null
            disabled_by_failures: { reason: string; at: string } | null
            last_result: {
              status: 'retrying' | 'delivered' | 'failed'
              at: string
              status_code: number | null
              error: string | null
            } | null
            last_day: { deliveries: number; failed: number; failure_share: number | null }
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            project_id: string
            url: string
            events: (
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
            )[]
            filters: {
              severity?: ('medium' | 'high' | 'critical')[] | undefined
              scorer_name?: string[] | undefined
            }
            filter_expression: string | null
            enabled: boolean
            disable_after_hours: number | null
            filter_expression_error: { message: string; at: string } | null
            disabled_by_failures: { reason: string; at: string } | null
            last_result: {
              status: 'retrying' | 'delivered' | 'failed'
              at: string
              status_code: number | null
              error: string | null
            } | null
            last_day: { deliveries: number; failed: number; failure_share: number | null }
            created_at: string
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/v1/webhooks/try': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: { filter_expression: string }
    answer: {
      error: string | null
      tried: {
        id: string
        event:
          | 'threat_detected'
          | 'usage_alert'
          | 'redteam_complete'
          | 'finding_opened'
          | 'finding_reopened'
          | 'finding_acknowledged'
          | 'finding_resolved'
          | 'alert_fired'
          | 'alert_recovered'
          | 'new_tool_detected'
          | 'tool_definition_changed'
        created_at: string
        scorer_name: string | null
        severity: string | null
        outcome: 'passes' | 'held_back' | 'failed'
        message: string | null
      }[]
    }
  }
  'GET /api/v1/webhooks/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      id: string
      project_id: string
      url: string
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      disable_after_hours: number | null
      filter_expression_error: { message: string; at: string } | null
      disabled_by_failures: { reason: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
    }
  }
  'PATCH /api/v1/webhooks/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      url?: string | undefined
      events?:
        | (
            | 'threat_detected'
            | 'usage_alert'
            | 'redteam_complete'
            | 'finding_opened'
            | 'finding_reopened'
            | 'finding_acknowledged'
            | 'finding_resolved'
            | 'alert_fired'
            | 'alert_recovered'
          )[]
        | undefined
      filters?:
        | { severity?: ('medium' | 'high' | 'critical')[] | undefined; scorer_name?: string[] | undefined }
        | undefined
      filter_expression?: string | null | undefined
      enabled?: boolean | undefined
      disable_after_hours?: number | null | undefined
    }
    answer: {
      id: string
      project_id: string
      url: string
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      disable_after_hours: number | null
      filter_expression_error: { message: string; at: string } | null
      disabled_by_failures: { reason: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
    }
  }
  'DELETE /api/v1/webhooks/{id}': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: unknown
  }
  'GET /api/v1/webhooks/{id}/deliveries': {
    params: { id: string }
    query: {
      project_id?: string | undefined
      page?: string | undefined
      page_size?: string | undefined
      limit?: string | undefined
      cursor?: string | undefined
      status?: 'pending' | 'retrying' | 'delivered' | 'failed' | undefined
    }
    body: undefined
    answer:
      | {
          items: {
            id: string
            webhook_id: string
            event_id: string
            event:
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
              | 'new_tool_detected'
              | 'tool_definition_changed'
            status: 'pending' | 'retrying' | 'delivered' | 'failed'
            attempt_count: number
            attempts: {
              number: number
              at: string
              status_code: number | null
              duration_ms: number | null
              error: string | null
              response_excerpt: string | null
            }[]
            can_be_replayed: boolean
            created_at: string
            delivered_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          page: number
          page_size: number
          next_cursor: string | null
        }
      | {
          data: {
            id: string
            webhook_id: string
            event_id: string
            event:
              | 'threat_detected'
              | 'usage_alert'
              | 'redteam_complete'
              | 'finding_opened'
              | 'finding_reopened'
              | 'finding_acknowledged'
              | 'finding_resolved'
              | 'alert_fired'
              | 'alert_recovered'
              | 'new_tool_detected'
              | 'tool_definition_changed'
            status: 'pending' | 'retrying' | 'delivered' | 'failed'
            attempt_count: number
            attempts: {
              number: number
              at: string
              status_code: number | null
              duration_ms: number | null
              error: string | null
              response_excerpt: string | null
            }[]
            can_be_replayed: boolean
            created_at: string
            delivered_at: string | null
          }[]
          total: number
          total_is_exact?: false | undefined
          limit: number
          has_more: boolean
        }
  }
  'POST /api/v1/webhooks/{id}/deliveries/replay': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: { start: string; end: string; cursor?: string | undefined }
    answer: { replayed: number; has_more: boolean; next_cursor: string | null }
  }
  'POST /api/v1/webhooks/{id}/deliveries/replay-chosen': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: { delivery_ids: string[] }
    answer: { replayed: number; skipped: { delivery_id: string; reason: 'under_way' | 'unknown' }[] }
  }
  'POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/replay': {
    params: { id: string; delivery_id: string }
    query: { project_id?: string | undefined }
    body: undefined
    answer: { delivery_id: string }
  }
  'POST /api/v1/webhooks/{id}/rotate-secret': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: { overlap_seconds?: number | undefined }
    answer: {
      id: string
      project_id: string
      url: string
      events: (
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
      )[]
      filters: {
        severity?: ('medium' | 'high' | 'critical')[] | undefined
        scorer_name?: string[] | undefined
      }
      filter_expression: string | null
      enabled: boolean
      disable_after_hours: number | null
      filter_expression_error: { message: string; at: string } | null
      disabled_by_failures: { reason: string; at: string } | null
      last_result: {
        status: 'retrying' | 'delivered' | 'failed'
        at: string
        status_code: number | null
        error: string | null
      } | null
      last_day: { deliveries: number; failed: number; failure_share: number | null }
      created_at: string
      secret: string
    }
  }
  'POST /api/v1/webhooks/{id}/test': {
    params: { id: string }
    query: { project_id?: string | undefined }
    body: {
      event?:
        | 'threat_detected'
        | 'usage_alert'
        | 'redteam_complete'
        | 'finding_opened'
        | 'finding_reopened'
        | 'finding_acknowledged'
        | 'finding_resolved'
        | 'alert_fired'
        | 'alert_recovered'
        | undefined
    }
    answer: { delivery_id: string }
  }
  'POST /internal/gateways/heartbeat': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      name: string
      version: string
      delivery: 'api' | 'kafka'
      started_at: string
      spool: { records: number; bytes: number; oldest_at: string | null }
      lost: Record<string, number>
      left_out?: Record<string, Record<string, number>> | undefined
      problems: Record<string, string>
    }
    answer: unknown
  }
  'POST /internal/keys/lease': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      key_id: string
      lease_id: string
      sequence: number
      month: string
      spent: string
      under_way: string
      held: string
      minimum: string
      wanted: string
      waiting: string
      refused: number
    }
    answer: {
      granted: string
      spent: string
      reserved: string
      available: string
      budget_usd: number
      spent_usd: number
      expires_in_ms: number
    }
  }
  'POST /internal/keys/resolve': {
    params: Record<never, never>
    query: Record<never, never>
    body: { key_sha256: string }
    answer: {
      key_id: string
      project_id: string
      scope: 'ingest' | 'read' | 'all'
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      zero_content_retention: boolean
      mask?: boolean | undefined
      expires_at: string | null
      user: string | null
      team: string | null
      models: string[] | null
      capture: 'full' | 'metadata' | 'none'
      rate_limit_per_minute: number | null
      monthly_budget_usd: number | null
      when_unknown: 'stop' | 'allow'
    }
  }
  'POST /internal/log': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      id?: string | null | undefined
      project_id?: string | null | undefined
      agent_name?: string | null | undefined
      agent_tag?: string | null | undefined
      session_id?: string | null | undefined
      user_id?: string | null | undefined
      model?: string | null | undefined
      provider?: string | null | undefined
      request_body?: Record<never, never> | undefined
      response_body?: Record<never, never> | null | undefined
      bodies_erased?: boolean | null | undefined
      latency_ms?: number | null | undefined
      time_to_first_token_ms?: number | null | undefined
      prompt_tokens?: number | null | undefined
      completion_tokens?: number | null | undefined
      cached_tokens?: number | null | undefined
      cache_write_tokens?: number | null | undefined
      cache_write_1h_tokens?: number | null | undefined
      reasoning_tokens?: number | null | undefined
      service_tier?: string | null | undefined
      inference_geo?: string | null | undefined
      billed_parts?: Record<string, number> | null | undefined
      cost_usd?: number | null | undefined
      status_code?: number | null | undefined
      error?: string | null | undefined
      aborted_by?: 'client' | 'upstream' | null | undefined
      metadata?: Record<never, never> | null | undefined
      context?: (number | string)[] | null | undefined
      traceparent?: string | null | undefined
      tracestate?: string | null | undefined
      masked?:
        | { kind: string; place: 'request_body' | 'response_body' | 'error'; count: number }[]
        | null
        | undefined
      source?: 'gateway' | 'sdk' | 'trace' | 'mcp' | 'otel' | 'redteam' | 'api' | null | undefined
    }
    answer: { id: string; status: 'queued' | 'left_out' }
  }
  'POST /internal/log/batch': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      records: {
        id?: string | null | undefined
        project_id?: string | null | undefined
        agent_name?: string | null | undefined
        agent_tag?: string | null | undefined
        session_id?: string | null | undefined
        user_id?: string | null | undefined
        model?: string | null | undefined
        provider?: string | null | undefined
        request_body?: Record<never, never> | undefined
        response_body?: Record<never, never> | null | undefined
        bodies_erased?: boolean | null | undefined
        latency_ms?: number | null | undefined
        time_to_first_token_ms?: number | null | undefined
        prompt_tokens?: number | null | undefined
        completion_tokens?: number | null | undefined
        cached_tokens?: number | null | undefined
        cache_write_tokens?: number | null | undefined
        cache_write_1h_tokens?: number | null | undefined
        reasoning_tokens?: number | null | undefined
        service_tier?: string | null | undefined
        inference_geo?: string | null | undefined
        billed_parts?: Record<string, number> | null | undefined
        cost_usd?: number | null | undefined
        status_code?: number | null | undefined
        error?: string | null | undefined
        aborted_by?: 'client' | 'upstream' | null | undefined
        metadata?: Record<never, never> | null | undefined
        context?: (number | string)[] | null | undefined
        traceparent?: string | null | undefined
        tracestate?: string | null | undefined
        masked?:
          | { kind: string; place: 'request_body' | 'response_body' | 'error'; count: number }[]
          | null
          | undefined
        source?: 'gateway' | 'sdk' | 'trace' | 'mcp' | 'otel' | 'redteam' | 'api' | null | undefined
      }[]
    }
    answer: {
      results: (
        | { id: string; status: 'queued' | 'left_out' }
        | {
            status_code: number
            detail: string
            code: string
            errors?: { path: string; message: string }[] | undefined
            retry_id?: string | undefined
          }
      )[]
    }
  }
  'POST /internal/people/first': {
    params: Record<never, never>
    query: Record<never, never>
    body: { login?: string | undefined; password?: string | undefined }
    answer: { created: boolean; login?: string | undefined; password?: string | undefined }
  }
  'POST /internal/people/sign-in': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      login: string
      password: string
      address?: string | null | undefined
      user_agent?: string | null | undefined
    }
    answer: { token: string; person_id: string; ends_at: string }
  }
  'POST /internal/people/sign-in-by-provider': {
    params: Record<never, never>
    query: Record<never, never>
    body: {
      issuer: string
      subject: string
      login: string
      login_is_verified: boolean
      name: string
      role: 'viewer' | 'analyst' | 'admin'
      address?: string | null | undefined
      user_agent?: string | null | undefined
    }
    answer: { token: string; person_id: string; ends_at: string }
  }
  'GET /internal/project': {
    params: Record<never, never>
    query: { project_id?: string | undefined }
    body: undefined
    answer: {
      project_id: string
      tier: 'free' | 'pro' | 'team' | 'enterprise'
      zero_content_retention: boolean
      mask?: boolean | undefined
      mask_key?: string | undefined
    }
  }
  'POST /v1/logs': {
    params: Record<never, never>
    query: Record<never, never>
    body: { resourceLogs: Record<string, unknown>[] }
    answer: string
  }
  'POST /v1/traces': {
    params: Record<never, never>
    query: Record<never, never>
    body: { resourceSpans: Record<string, unknown>[] }
    answer: string
  }
  'POST /webhook/payment': {
    params: Record<never, never>
    query: Record<never, never>
    body: { id: string; type: string }
    answer: { received: true; outcome: string }
  }
}
