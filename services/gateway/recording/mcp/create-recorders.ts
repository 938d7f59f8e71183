import type { FinishedCall } from '../build-record.ts'
import { createRecorder, type Recorder, type RecorderDependencies } from '../recorder.ts'
import { createNewDefinitions } from './new-definitions.ts'
import { toolRecordsOf } from './tool-exchange.ts'

/** Records calls of models, and what agents do with MCP servers. */
export function createRecorders(dependencies: RecorderDependencies): Recorder {
  const { maxBodyBytes, metrics, log } = dependencies
  const recorder = createRecorder(dependencies)
  const newDefinitions = createNewDefinitions()
  const recordTools = async (call: FinishedCall, release: () => void) => {
    try {
      const records = await toolRecordsOf(call, maxBodyBytes, newDefinitions)
      await Promise.all(records.map((record) => recorder(record, () => undefined)))
    } catch (error) {
      metrics.lost('defect', 1)
      log.error({ err: error, request_id: call.id }, 'no record could be made of a tool call')
    } finally {
      release()
    }
  }
  return (call, release) =>
    call.upstream.kind === 'mcp' ? recordTools(call, release) : recorder(call, release)
}
