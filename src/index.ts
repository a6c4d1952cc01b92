// The public API: everything an embedding program needs, and nothing else.

export {
  createQuarterdeck,
  type NodeRequest,
  type NodeResponse,
  type Quarterdeck,
  type QuarterdeckOptions,
} from './app/create-quarterdeck.ts'
export { ConfigError, type ConfigIssue } from './config/config-error.ts'
export type { CodeSettings } from './config/settings/settings.ts'
export { type ErrorCode, errorCodes, ServerError } from './domain/errors.ts'
export type { Logger } from './domain/logger.ts'
export type { RunEvent } from './domain/session/event.ts'
export type { Middleware, MiddlewareScope } from './engine/middleware/middleware.ts'
export {
  createEventLog,
  createRateLimit,
  createRedaction,
  createRunMetadata,
  createToolFilter,
} from './engine/middleware/middleware.ts'
export { type CodeTool, type CodeToolRules, codeTool } from './tools/function/code-tool.ts'
export { defineTool } from './tools/function/define-tool.ts'
export type { ReviewContext, ToolContext } from './tools/function/tool-context.ts'
export { AskError, ToolError } from './tools/function/tool-error.ts'
