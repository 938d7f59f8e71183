import { scopeLabels, scopedTo } from './scope-query.ts'

/** A panel's query: Prometheus, or for tenants Postgres, which knows projects. */
type Question =
  | { expr: string; legend: string }
  | {
      /** With a column `time` for a time series. */
      sql: string
    }

export interface Panel {
  title: string
  /** What a change means, if the title does not say. */
  help?: string
  kind?: 'line' | 'stat' | 'table'
  /** Grafana's unit: `short` unless it is a time, a size, a rate or money. */
  unit?: 'short' | 's' | 'bytes' | 'Bps' | 'ops' | 'percentunit' | 'currencyUSD'
  ask: readonly Question[]
}

export interface Dashboard {
  /** Part of its URL, and its file name. */
  name: string
  title: string
  rows: readonly { title: string; panels: readonly Panel[] }[]
}

const prometheus = { type: 'prometheus', uid: '${datasource}' }
const postgres = { type: 'grafana-postgresql-datasource', uid: '${postgres}' }
const columns = 24
const height = 8

/** A dashboard as Grafana reads it from a file. */
export function buildDashboard({ name, title, rows }: Dashboard): object {
  let id = 0
  let y = 0
  const panels = rows.flatMap((row) => {
    const head = {
      id: ++id,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { h: 1, w: columns, x: 0, y: y++ },
    }
    const width = Math.max(6, Math.floor(columns / row.panels.length))
    const perLine = Math.floor(columns / width)
    const built = row.panels.map((panel, index) => ({
      id: ++id,
      ...buildPanel(panel),
      gridPos: {
        h: height,
        w: width,
        x: (index % perLine) * width,
        y: y + Math.floor(index / perLine) * height,
      },
    }))
    y += Math.ceil(row.panels.length / perLine) * height
    return [head, ...built]
  })
  return {
    uid: `sluice-${name}`,
    title: `Sluice: ${title}`,
    tags: ['sluice'],
    schemaVersion: 41,
    timezone: 'utc',
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    links: [{ type: 'dashboards', title: 'Sluice', tags: ['sluice'], asDropdown: true, keepTime: true }],
    templating: { list: variablesOf(rows) },
    annotations: { list: [criticalAlerts] },
    panels,
  }
}

/** Marks critical alerts on every graph. */
const criticalAlerts = {
  name: 'Critical alerts',
  datasource: prometheus,
  enable: true,
  iconColor: 'red',
  expr: scopedTo('ALERTS{alertname=~"Sluice.+",alertstate="firing",severity="critical"}'),
  titleFormat: '{{alertname}}',
}

/** The datasources, and the labels of an installation; a label that series lack is matched by "All". */
function variablesOf(rows: Dashboard['rows']): object[] {
  const asksSql = rows.some((row) => row.panels.some(isSql))
  return [
    sourceVariable('datasource', 'Prometheus', prometheus.type, 'prometheus'),
    ...(asksSql ? [sourceVariable('postgres', 'Postgres', postgres.type, 'postgres')] : []),
    ...scopeLabels.map((label, index) => ({
      name: label,
      type: 'query',
      datasource: prometheus,
      query: `label_values(${scopedTo('up{job="sluice"}', scopeLabels.slice(0, index))}, ${label})`,
      refresh: 2,
      sort: 1,
      multi: true,
      includeAll: true,
      allValue: '.*',
      current: { text: 'All', value: '$__all' },
    })),
  ]
}

/** `uid` is that of infra/grafana/provisioning; where there is none, Grafana takes the first of the type. */
function sourceVariable(name: string, label: string, type: string, uid: string): object {
  return { name, label, type: 'datasource', query: type, current: { text: label, value: uid } }
}

function isSql({ ask }: Panel): boolean {
  return ask.some((question) => 'sql' in question)
}

const types = { line: 'timeseries', stat: 'stat', table: 'table' }

function buildPanel(panel: Panel): object {
  const { title, help, kind = 'line', unit = 'short', ask } = panel
  return {
    title,
    ...(help === undefined ? {} : { description: help }),
    type: types[kind],
    datasource: isSql(panel) ? postgres : prometheus,
    fieldConfig: { defaults: { unit, ...(kind === 'line' ? { min: 0 } : {}) }, overrides: [] },
    ...(kind === 'line' ? { options: { tooltip: { mode: 'multi', sort: 'desc' } } } : {}),
    targets: ask.map((question, index) => ({
      refId: String.fromCharCode(65 + index),
      ...('sql' in question
        ? {
            datasource: postgres,
            rawQuery: true,
            rawSql: question.sql,
            format: kind === 'line' ? 'time_series' : 'table',
          }
        : { datasource: prometheus, expr: scopedTo(question.expr), legendFormat: question.legend }),
    })),
  }
}
