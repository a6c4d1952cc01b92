import type { LogLevel, Protocol } from './setting-values.ts'

/** The server's settings as the server uses them: complete, checked, one unit per name. */
export interface ServerSettings {
  host: string
  /** What is listened on: `host`; by default, and for `localhost`, this machine by both protocols, where it has both. */
  hosts: readonly string[]
  /** 0 = any free one. */
  port: number
  /** Only this machine can connect. */
  loopback: boolean
  protocols: readonly Protocol[]
  /** Origins of web pages; `local` = pages of this machine on any port, `*` = all (then it is the only entry). */
  cors: { origins: readonly string[] }
  /** Further names in a Host header, `name` or `name:port`. */
  allowedHosts: readonly string[]
  log: {
    level: LogLevel
    format: 'json' | 'text'
    /** Messages and answers may be logged, secrets masked. Never true beyond loopback. */
    content: boolean
  }
  debug: boolean
  /** null = `.quarterdeck` beside the agent. */
  dataDir: string | null
  store: 'sqlite' | ':memory:'
  auth: {
    /** null = none is set; those that `quarterdeck tokens` makes count all the same. */
    token: string | null
    operatorToken: string | null
    /** Talking needs a token. Deciding always does. */
    required: boolean
    /** Nobody is asked for a token although the server can be reached from elsewhere. */
    insecure: boolean
  }
  limits: {
    /** null = no limit, here and below. */
    sessions: number | null
    activeRuns: number
    /** null = a run never stops because its readers have gone. */
    disconnectGraceMs: number | null
    bodyBytes: number
    queue: number
    postsPerMinute: number | null
    streams: number | null
  }
  /** For agents that do not say. */
  context: { maxMessages: number }
  tools: {
    /** For tools that do not say. */
    timeoutMs: number
    /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY where tools go by them; null: tools use no proxy. */
    proxy: Readonly<Record<string, string>> | null
  }
  /** For agents that do not say. */
  sessions: { ttlSeconds: number; retentionDays: number }
  shutdown: { drainMs: number }
  publicDocs: boolean
  files: {
    /** Files that a message names by an address are fetched. */
    urls: boolean
    /** Of one user; null = no limit. */
    unsentBytes: number | null
    unsentTtlSeconds: number
  }
  /** Paths of PEM files. */
  tls: { cert: string; key: string } | null
  open: boolean
}
