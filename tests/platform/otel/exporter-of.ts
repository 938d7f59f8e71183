/** Variables that make exporters of every instrumentation send to an API. */
export function exporterOf(baseUrl: string, key: string): NodeJS.ProcessEnv {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${baseUrl}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-service-key=${key}`,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${baseUrl}/v1/logs`,
    OTEL_EXPORTER_OTLP_LOGS_HEADERS: `x-service-key=${key}`,
    // What labels a call may be on another span, which must be in the same request.
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE: 'content',
    LANGFUSE_HOST: baseUrl,
    LANGFUSE_BASE_URL: baseUrl,
    LANGFUSE_PUBLIC_KEY: 'anybody',
    LANGFUSE_SECRET_KEY: key,
  }
}
