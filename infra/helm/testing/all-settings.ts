import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { findHelm, renderChart } from '../render-chart.ts'

export interface Rendered {
  kind: string
  metadata: { name: string; labels: object; annotations?: object }
  spec: Record<string, unknown>
  data: Record<string, string>
}

interface Template {
  metadata: object
  spec: object
}

const allSettings = [join('testing', 'all-settings.yaml')]

/** Renders testing/all-settings.yaml by the helm that it finds; empty: none. */
export function renderings(searchPath: string | undefined) {
  const helm = findHelm(searchPath) ?? ''
  let once: Promise<Rendered[]> | undefined

  /** With other settings, or of other files. */
  async function render(settings: string[], files = allSettings): Promise<Rendered[]> {
    const text = await renderChart(helm, settings, files)
    return parseAllDocuments(text).flatMap((document) => {
      const value = document.toJS() as Rendered | null
      return value === null ? [] : [value]
    })
  }

  async function find(kind: string, name: string): Promise<Rendered | undefined> {
    const all = await (once ??= render([]))
    return all.find((one) => one.kind === kind && one.metadata.name === name)
  }

  /** The template of a workload's pod. */
  async function podOf(name: string, kind = 'Deployment'): Promise<Template> {
    const found = await find(kind, name)
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
    return (found.spec as { template: Template }).template
  }

  return { helm, render, find, podOf }
}
