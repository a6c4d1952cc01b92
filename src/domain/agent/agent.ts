// An agent as plain, checked data: the content of agent.yaml with all references resolved. `config/` creates it.

import type { ApprovalSettings } from './approval-rule.ts'
import type { ScheduleSettings } from './schedule.ts'
import type { Skill } from './skill.ts'
import type { TestCase } from './test-case.ts'
import type { ToolSettings } from './tool-settings.ts'

/** Exactly one of the two does the work: a model with our loop and tools, or the program of a coding agent. */
export type AgentDefinition = ModelAgent | HostAgent

export interface ModelAgent extends AgentBase {
  model: ModelSettings
  host: null
}

/** An agent that works in a coding agent's own program, which this server starts and talks to over the Agent Client Protocol. */
export interface HostAgent extends AgentBase {
  model: null
  host: HostSettings
}

interface AgentBase {
  name: string
  description: string
  /** Folder of the agent file. Relative paths resolve against it. */
  directory: string
  /** Answers requests that name no agent. */
  default: boolean
  /** Only other agents can call it; no door serves it. */
  internal: boolean
  instructions: string
  /** Models that operators may try in its place; absent: none. */
  tried?: readonly ModelSettings[]
  tools: ToolSettings[]
  /** What it can read up when a task needs it; absent: nothing. The list of them is at the end of the instructions. */
  skills?: readonly Skill[]
  /** JSON Schema of the final answer, or null. */
  responseFormat: Record<string, unknown> | null
  limits: RunLimits
  context: { maxMessages: number; mode: ContextMode }
  /** Model that makes the summaries. Null: the agent's own. */
  summarizer: ModelSettings | null
  sessions: SessionSettings
  approval: ApprovalSettings
  testCases: TestCase[]
  /** First messages for somebody who does not know the agent; absent: none. */
  suggestions?: readonly string[]
  /** What it is told by itself, and when; absent: nothing. */
  schedules?: readonly ScheduleSettings[]
  /** The file, with secrets masked and variables as written; absent: the agent comes from code or from the environment. */
  source?: { path: string; text: string }
  /** Keeps facts about users between sessions; absent: no. */
  memory?: true
  /** Model that judges test cases. Null: none, because the agent's own model must not judge itself. */
  judge: ModelSettings | null
}

/** What becomes of messages that do not fit into a request: a summary stands for them, or they are left out. */
export const contextModes = ['summarize', 'window'] as const
export type ContextMode = (typeof contextModes)[number]

/** `worktree`: the program writes in a private copy, and a person approves its changes. `client`: it asks the server to write each file. */
export const hostWrites = ['worktree', 'client'] as const

export interface HostSettings {
  /** One of `src/hosts`, or `custom`. */
  name: string
  /** What is started in place of the host's usual command: a name or an absolute path. Null: the usual one. */
  command: string | null
  args: readonly string[]
  /** Absolute path of the folder that it works in. Null: each session has its own, so only who starts it there can begin one. */
  workspace: string | null
  /** Names of variables of the server that the program gets, besides the credentials that are usual for it. */
  env: readonly string[]
  writes: (typeof hostWrites)[number]
  /** It may run where no sandbox confines it. Once the server has looked for a sandbox: there is none, and it runs all the same. */
  unconfined: boolean
  /** False: nothing but loopback can be reached from the sandbox. */
  network: boolean
}

/** The models that an agent itself may ask, without their fallbacks. */
export const modelsOf = ({ model, summarizer }: AgentDefinition): ModelSettings[] =>
  [model, summarizer].filter((one) => one !== null)

/** What answers, as lists and figures name it: a model, or the program of a coding agent. */
export function answersWith({ model, host }: AgentDefinition): { provider: string; name: string } {
  if (host !== null) return { provider: 'host', name: host.name }
  const { provider, name } = model
  return { provider, name }
}

/** Of a hosted agent whose program nothing confines: every surface says so. */
export const UNCONFINED = 'unconfined: runs without a sandbox'

/** The tools of an agent that keeps facts about users. */
export const memoryTools = ['remember', 'recall', 'forget'] as const

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

/** A model that turns texts into vectors. */
export interface EmbeddingSettings
  extends Pick<
    ModelSettings,
    | 'provider'
    | 'name'
    | 'baseUrl'
    | 'apiKey'
    | 'package'
    | 'retries'
    | 'connectTimeoutMs'
    | 'proxy'
    | 'proxyVariables'
    | 'tls'
  > {
  /** Null: as many as the model has. */
  dimensions: number | null
  /** Per million tokens; null: unknown. */
  price: number | null
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
