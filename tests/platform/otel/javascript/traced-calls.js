/**
 * Makes calls of a model, streamed and not, traced by the instrumentation named first. Takes the address of
 * the provider; the exporter is set up by the environment.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { observeOpenAI } from '@langfuse/openai'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'

const [kind, baseURL] = process.argv.slice(2)

/** An agent with a tool, by responses, and a stream by chat completions. */
async function callVercel(integration) {
  const openai = createOpenAI({ baseURL, apiKey: 'k' })
  const telemetry = { functionId: 'helper', integrations: [integration] }
  const lookUp = tool({
    description: 'Looks up a word.',
    inputSchema: z.object({ word: z.string() }),
    execute: ({ word }) => ({ found: `${word}: a gate` }),
  })
  const asked = { instructions: 'Be brief.', prompt: 'What is a sluice?', telemetry }
  await generateText({
    model: openai('model-1'),
    ...asked,
    tools: { look_up: lookUp },
    stopWhen: isStepCount(3),
  })
  await streamText({ model: openai.chat('model-1'), ...asked }).text
}

async function callOpenAI() {
  const client = observeOpenAI(new OpenAI({ baseURL, apiKey: 'k' }))
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is a sluice?' },
  ]
  await client.chat.completions.create({ model: 'model-1', messages })
  const options = { stream: true, stream_options: { include_usage: true } }
  for await (const chunk of await client.chat.completions.create({ model: 'model-1', messages, ...options }))
    if (chunk.object !== 'chat.completion.chunk') throw new Error(`a chunk is ${chunk.object}`)
}

const isLangfuse = kind.startsWith('langfuse')
const isGrpc = process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL === 'grpc'
const exporter = isGrpc ? new GrpcExporter() : new OTLPTraceExporter()
const processor = isLangfuse ? new LangfuseSpanProcessor() : new BatchSpanProcessor(exporter)
const provider = new NodeTracerProvider({ spanProcessors: [processor] })
provider.register()
if (kind === 'langfuse-openai') await callOpenAI()
else await callVercel(kind.endsWith('legacy') ? new LegacyOpenTelemetry() : new OpenTelemetry())
await provider.shutdown()
