import { test } from '@jest/globals'
import { findHelm, renderChart } from '../render-chart.ts'

// scripts/test fetches helm first (fetch-helm.ts). Without it these tests are counted as skipped.
const helm = findHelm(process.env['PATH'])

/** A test that renders the chart. */
export const withHelm = helm === undefined ? test.skip : test

/** What the chart renders with these `--set` values. */
export const render = (settings?: readonly string[]): Promise<string> => renderChart(helm ?? '', settings)
