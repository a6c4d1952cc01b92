// An agent as plain, validated data: what `agent.yaml` says once its references are resolved. `config/` makes it.

import type { ApprovalSettings } from './approval-rule.ts'
import type { TestCase } from './test-case.ts'
import type { ToolSettings } from './tool-settings.ts'

export interface AgentDefinition {
  name: string
  description: string
  /** Folder of the file it came from; relative paths resolve against it. */
  directory: string
  /** Answers at the doors that name no agent. */
  default: boolean
  /** Only other agents talk to it: no door leads to it. */
  internal: boolean
  instructions: string
  model: ModelSettings
  tools: ToolSettings[]
  /** JSON Schema of the final answer, or null. */
  responseFormat: Record<string, unknown> | null
  limits: RunLimits
  context: { maxMessages: number }
  sessions: SessionSettings
  approval: ApprovalSettings
  testCases: TestCase[]
  /** The model that judges test cases; null: the agent's own does not judge itself. */
  judge: ModelSettings | null
}

/** What a model can take. Everybody takes text. */
export const modelInputs = ['text', 'image', 'pdf'] as const

export type ModelInput = (typeof modelInputs)[number]

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
  /** What it takes besides text; left out: nothing. Files of other kinds reach it as text. */
  input?: readonly ModelInput[]
  /** Tokens the model can take in one request; 128,000 when not configured. */
  contextWindow: number
  retries: number
  /** 10 s when left out. */
  connectTimeoutMs?: number
  /** The address of the proxy to go through; `false`: none. Left out: `proxyVariables` decide. */
  proxy?: string | false
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY as the agent's environment has them, in either case. */
  proxyVariables?: Readonly<Record<string, string>>
  /** Absolute paths of PEM files. */
  tls?: { cert?: string; key?: string; ca?: string }
  firstTokenTimeoutMs: number
  tokenTimeoutMs: number
  /** Per million tokens; a cost limit needs it. */
  prices?: { input: number; output: number }
  fallback?: ModelSettings
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
  /** Characters that the model writes in one run: text, thoughts, arguments of calls. */
  answerChars: number
  /** The same call with the same arguments, in a row. */
  identicalCalls: number
  /** Calls of one step that run side by side. */
  parallelCalls: number
  /** Characters kept of one tool result; what is longer is cut and says so. */
  toolResultChars: number
  /** Characters kept of one stored message. */
  storedMessageChars: number
}

export interface SessionSettings {
  ttlSeconds: number
  onExpiry: 'continue' | 'close'
  retentionDays: number
  onBusy: 'queue' | 'reject' | 'interrupt'
}
