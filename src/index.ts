// The public API: everything an embedding program needs, and nothing else.

export { ConfigError, type ConfigIssue } from './config/config-error.ts'
export type { CodeSettings } from './config/settings/settings.ts'
export {
  createQuarterdeck,
  type NodeRequest,
  type NodeResponse,
  type Quarterdeck,
  type QuarterdeckOptions,
} from './create-quarterdeck.ts'
export { type ErrorCode, errorCodes, ServerError } from './domain/errors.ts'
export type { RunEvent } from './domain/event.ts'
export type { Logger } from './domain/logger.ts'
export { createEventLog } from './engine/middleware/event-log.ts'
export type { Middleware, MiddlewareScope } from './engine/middleware/middleware.ts'
export { createRateLimit } from './engine/middleware/rate-limit.ts'
export { createRedaction } from './engine/middleware/redaction.ts'
export { createRunMetadata } from './engine/middleware/run-metadata.ts'
export { createToolFilter } from './engine/middleware/tool-filter.ts'
export { type CodeTool, type CodeToolRules, codeTool } from './tools/function/code-tool.ts'
export { defineTool } from './tools/function/define-tool.ts'
export type { ReviewContext, ToolContext } from './tools/function/tool-context.ts'
export { AskError, ToolError } from './tools/function/tool-error.ts'
