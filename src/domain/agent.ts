// An agent as plain, validated data: what `agent.yaml` says once its references are resolved. `config/` makes it.

export interface AgentDefinition {
  name: string
  description: string
  /** Folder of the file it came from; relative paths resolve against it. */
  directory: string
  /** Answers at the doors that name no agent. */
  default: boolean
  instructions: string
  model: ModelSettings
  tools: ToolSettings[]
  /** JSON Schema of the final answer, or null. */
  responseFormat: Record<string, unknown> | null
  limits: RunLimits
  context: { maxMessages: number }
  sessions: SessionSettings
  approval: { default: 'never' | 'always' | 'risk'; by: 'owner' | 'operator'; expiresSeconds: number }
}

export interface ModelSettings {
  provider: string
  name: string
  temperature?: number
  maxTokens?: number
  topP?: number
  baseUrl?: string
  /** Resolved from the file or the environment; `none` means that the server needs no key. */
  apiKey?: string
  /** `provider: ai-sdk` only: the npm package of the provider. */
  package?: string
  /** `provider: scripted` only: the script file. */
  script?: string
  reasoning?: { effort?: 'low' | 'medium' | 'high'; budgetTokens?: number }
  /** Tokens the model can take in one request; 128,000 when not configured. */
  contextWindow: number
  retries: number
  firstTokenTimeoutMs: number
  tokenTimeoutMs: number
  /** Per million tokens; a cost limit needs it. */
  prices?: { input: number; output: number }
  fallback?: ModelSettings
}

/** A tool as configured. The kinds and their own keys land with the tools. */
export interface ToolSettings {
  type: 'function' | 'mcp' | 'client' | 'http' | 'agent' | 'prompt'
  name: string
  [key: string]: unknown
}

export interface RunLimits {
  steps: number
  /** Model tokens (input + output) of one run; null = no limit. */
  tokens: number | null
  /** Wall time of one run in ms, without the time it is queued or waits for a person. */
  durationMs: number
  /** In the currency of the prices; null = no limit. */
  cost: number | null
  toolCalls: number
  /** The same call with the same arguments, in a row. */
  identicalCalls: number
  /** Characters kept of one stored message. */
  storedMessageChars: number
}

export interface SessionSettings {
  ttlSeconds: number
  onExpiry: 'continue' | 'close'
  retentionDays: number
  onBusy: 'queue' | 'reject' | 'interrupt'
}
