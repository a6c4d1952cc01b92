// Types for the answers of the routes with which operators look after a server. Names are as on the wire.

/** Details and names have hidden characters marked. */
export interface AuditEntry {
  seq: number
  /** Null if the entry is damaged. */
  at: string | null
  kind: string
  by: string
  session_id: string | null
  run_id: string | null
  agent: string
  tool: string
  call_id: string | null
  details: Record<string, unknown>
  hash: string
}

export interface AuditChain {
  status: 'whole' | 'broken' | 'checking'
  /** So many entries are whole. */
  checked: number
  entries: number
  /** Null in an empty trail, and where it has several chains. */
  head: { seq: number; hash: string } | null
  broken_at: number | null
  /** What is wrong, in a sentence. */
  problem: string | null
  checked_at: string | null
  /** Each process that shares the store writes a chain of its own. */
  chains: { chain: string; entries: number; head: string; is_whole: boolean }[]
  /** The newest entry that names the heads of all chains. Null where one process owns the store. */
  last_tie: { chain: string; seq: number; hash: string; at: string } | null
}

export type UsageGroup = 'day' | 'agent' | 'model' | 'session' | 'owner'

export interface UsageCounts {
  runs: number
  input_tokens: number
  output_tokens: number
  cached_input_tokens: number
  reasoning_tokens: number
  /** Null: a model without a price was used. */
  cost: number | null
}

/** What you may use in a day, and what you have used. Null: no limit, or a cost that nobody knows. */
export interface MyLimits {
  day: string
  /** When it starts again. */
  resets_at: string
  runs: { used: number; allowed: number | null }
  tokens: { used: number; allowed: number | null }
  cost: { used: number | null; allowed: number | null; currency: string }
}

/** What a model costs, per million tokens. */
export interface TokenPrice {
  input: number
  output: number
  /** Input that the provider had in its cache, and input that it put there. */
  cached_input: number
  cache_write: number
}

export interface Usage {
  from: string
  to: string
  by: UsageGroup
  rows: (UsageCounts & { key: string; label: string })[]
  /** Of the whole range, also of rows beyond the limit. */
  total: UsageCounts
  currency: string
  /** `provider/model` of models without a price. */
  unpriced: string[]
  /** By `provider/model`: of the models that were used, and of those that agents use. */
  prices: Record<string, TokenPrice>
}

export interface AgentTool {
  name: string
  description: string
  effect: 'read' | 'idempotent' | 'once'
  risk: 'low' | 'high' | 'critical'
  /** When a person is asked, in a sentence. */
  approval: string
  execution_location: 'server' | 'client'
  /** A JSON Schema. */
  parameters: Record<string, unknown>
}

export interface Agent {
  name: string
  description: string
  is_default: boolean
  model: { provider: string; name: string }
  tools: AgentTool[]
  /** As AG-UI describes them. */
  capabilities: Record<string, unknown>
  /** Only for operators, and only in `agents.get`. */
  source: { path: string; text: string } | null
  /** How many test cases its file has. */
  tests: number
  /** First messages for somebody who does not know the agent. */
  suggestions: string[]
}

export interface AgentTests {
  agent: string
  running: boolean
  cases: { name: string; turns: string[]; tools: string[]; checks: string[]; timeout_seconds: number }[]
}

export interface TestCaseEvent {
  type: 'case'
  name: string
  outcome: 'running' | 'passed' | 'failed' | 'error' | 'stopped'
  findings: { check: string; expected: string; found: string }[]
  duration_ms: number
  tokens: { input: number; output: number }
  answer: string
  calls: { name: string; arguments: Record<string, unknown> | null }[]
}

export interface TestsDone {
  type: 'done'
  total: number
  passed: number
  failed: number
  errors: number
  stopped: number
  duration_ms: number
}

export interface ValidatedAgent {
  ok: boolean
  problems: { line: number; column: number; path: string; message: string }[]
}

export type TriedPolicy = {
  tool_name: string
  file_path?: string
  command?: string
  risk_level?: AgentTool['risk']
} & ({ workspace: string } | { session_id: string })

export interface PolicyVerdict {
  auto_approved: boolean
  matched_rule: string | null
  why: string[]
}

export interface Stats {
  at: string
  uptime_seconds: number
  runs: { active: number; queued: number; waiting: number }
  streams: number
  connections: number
  memory: { rss: number; heap_used: number }
  loop_delay_ms: { p50: number; p99: number; max: number }
  store: { bytes: number; wal_bytes: number }
  inbox: number
  /** Nudges of silent agents. `share`: how many of them worked, from 0 to 1; null: none was sent. */
  nudges: { sent: number; worked: number; share: number | null }
  /** The servers that share the store, the one that answered first. Empty: it has the store for itself. */
  replicas: {
    id: string
    is_this: boolean
    machine: string
    port: number | null
    version: string
    state: 'initializing' | 'ready' | 'running' | 'shutting_down' | 'stopped'
    uptime_seconds: number
    runs: { active: number; queued: number }
    streams: number
    connections: number
    memory: { rss: number }
  }[]
}

/** Without a token where one is needed, only `status` is there. */
export interface Health {
  status: 'healthy' | 'degraded' | 'unhealthy'
  version?: string
  uptime_seconds?: number
  agent_name?: string
  agent_ready?: boolean
  active_sessions?: number
  checks?: Record<string, { status: 'up' | 'down'; latency_ms?: number; error?: string }>
  insecure?: true
}
