// An agent as plain, checked data: the content of agent.yaml with all references resolved. `config/` creates it.

import type { ApprovalSettings } from './approval-rule.ts'
import type { TestCase } from './test-case.ts'
import type { ToolSettings } from './tool-settings.ts'

export interface AgentDefinition {
  name: string
  description: string
  /** Folder of the agent file. Relative paths resolve against it. */
  directory: string
  /** Answers requests that name no agent. */
  default: boolean
  /** Only other agents can call it; no door serves it. */
  internal: boolean
  instructions: string
  model: ModelSettings
  /** Models that operators may try in its place; absent: none. */
  tried?: readonly ModelSettings[]
  tools: ToolSettings[]
  /** JSON Schema of the final answer, or null. */
  responseFormat: Record<string, unknown> | null
  limits: RunLimits
  context: { maxMessages: number }
  sessions: SessionSettings
  approval: ApprovalSettings
  testCases: TestCase[]
  /** First messages for somebody who does not know the agent; absent: none. */
  suggestions?: readonly string[]
  /** The file, with secrets masked and variables as written; absent: the agent comes from code or from the environment. */
  source?: { path: string; text: string }
  /** Model that judges test cases. Null: none, because the agent's own model must not judge itself. */
  judge: ModelSettings | null
}

/** Kinds of input that a model can accept. Every model accepts text. */
export const modelInputs = ['text', 'image', 'pdf'] as const

export type ModelInput = (typeof modelInputs)[number]

/** `provider/model`, as people write it. */
export const modelName = ({ provider, name }: Pick<ModelSettings, 'provider' | 'name'>): string => `${provider}/${name}`

export interface ModelSettings {
  provider: string
  name: string
  temperature?: number
  maxTokens?: number
  topP?: number
  baseUrl?: string
  /** From the file or the environment. `none`: the model server needs no key. */
  apiKey?: string
  /** Only for `provider: ai-sdk`: the npm package of the provider. */
  package?: string
  /** Only for `provider: scripted`: the script file. */
  script?: string
  reasoning?: { effort?: 'low' | 'medium' | 'high'; budgetTokens?: number }
  /** Input that the model accepts besides text; left out: none. Other files are sent as extracted text. */
  input?: readonly ModelInput[]
  /** Tokens that fit in one request; 128,000 if not configured. */
  contextWindow: number
  retries: number
  /** 10 s if left out. */
  connectTimeoutMs?: number
  /** Address of the proxy to use; `false`: no proxy; absent: `proxyVariables` decide. */
  proxy?: string | false
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY from the agent's environment, in upper or lower case. */
  proxyVariables?: Readonly<Record<string, string>>
  /** Absolute paths of PEM files. */
  tls?: { cert?: string; key?: string; ca?: string }
  firstTokenTimeoutMs: number
  tokenTimeoutMs: number
  /** Per million tokens. A cost limit needs them. */
  prices?: { input: number; output: number }
  fallback?: ModelSettings
}

export interface RunLimits {
  steps: number
  /** Model tokens (input and output) per run; null: no limit. */
  tokens: number | null
  /** Wall time per run, without the time it is queued or waits for a person. */
  durationMs: number
  /** In the currency of the prices; null: no limit. */
  cost: number | null
  toolCalls: number
  /** Characters that the model writes per run: text, reasoning, arguments of calls. */
  answerChars: number
  /** How often in a row the model may repeat the same call with the same arguments. */
  identicalCalls: number
  /** Calls of one step that run at the same time. */
  parallelCalls: number
  /** Characters kept of a tool result. A longer one is cut, and a note says so. */
  toolResultChars: number
  /** Characters kept of a stored message. */
  storedMessageChars: number
}

export interface SessionSettings {
  ttlSeconds: number
  onExpiry: 'continue' | 'close'
  retentionDays: number
  /** Null: a message waits, unless nobody reads the run before it any more. */
  onBusy: 'queue' | 'reject' | 'interrupt' | null
}
